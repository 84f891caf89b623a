"""Many multiples of a group's generator, as a setup needs them, from tables of its multiples.

The table holds (d + 1)·2^(c·w)·generator for every window w and every digit size d + 1, so that a multiple
is one mixed addition a window (Brickell, Gordon, McCurley, Wilson, "Fast exponentiation with
precomputation", 1992). Results of a block are made affine with one inversion.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu.curve import add_affine_at, add_points, element_words, one_words, read_only_bytes, to_affine
from kernels.cpu.msm import SCALAR_LIMBS, check_scalars, signed_digit, window_bias, window_count
from kernels.encoding import Limbs, encode_points, ints_to_limbs
from kernels.fields import Field, Group, QuadraticField
from kernels.parallel import Run, run_chunks, serial

BLOCK = 256


@njit(cache=True, nogil=True)
def _multiply(
    F: Any,
    out: Any,
    table: Any,
    scalars: Any,
    bias: Any,
    bits: int,
    count: int,
    first: int,
    size: int,
    sums: Any,
    scratch: Any,
) -> None:
    """out[i] = scalars[i]·generator for `size` i from `first` on, affine; sums are XYZZ, all infinity."""
    half = 1 << (bits - 1)
    for window in range(count):  # the inner loop's additions do not wait for each other
        for i in range(size):
            digit = signed_digit(scalars, first + i, bias, bits, window)
            if digit > 0:
                add_affine_at(F, sums, 4 * i, table, 2 * (window * half + digit - 1), False)
            elif digit < 0:
                add_affine_at(F, sums, 4 * i, table, 2 * (window * half - digit - 1), True)
    to_affine(F, out, first, sums, size, scratch)


def _multiply_blocks(F: Field | QuadraticField, out: Limbs, inputs: Any, start: int, stop: int) -> None:
    table, scalars, bias, bits, count = inputs
    for first in range(start, stop, BLOCK):
        size = min(BLOCK, stop - first)
        sums = np.zeros((4 * size, element_words(F)), np.uint64)
        scratch = np.empty((size + 1, element_words(F)), np.uint64)
        scratch[size] = one_words(F)
        _multiply(F, out, table, scalars, bias, bits, count, first, size, sums, scratch)


def _multiples(G: Group, bits: int, scalars: Limbs, run: Run) -> Limbs:
    """scalars·generator by the table for windows of `bits`."""
    count = window_count(G.order, bits)
    out = np.zeros((2 * len(scalars), element_words(G.field)), np.uint64)
    inputs = read_only_bytes(_table(G, bits)), read_only_bytes(scalars), window_bias(bits, count), bits, count
    run_chunks(run, _multiply_blocks, len(scalars), G.field, out, inputs, minimum=BLOCK)
    return out.reshape(-1, *G.point_shape)


@lru_cache(maxsize=8)
def _table(G: Group, bits: int) -> Limbs:
    """(window_count·2^(bits−1), *G.point_shape): the multiples of the generator, window by window."""
    count = window_count(G.order, bits)
    if bits == 2:  # digits 1 and 2 of every window: the generator doubled again and again
        powers = [encode_points(G, [G.generator])[0]]
        while len(powers) < 2 * count:
            powers.append(add_points(G, powers[-1], powers[-1]))
        return np.stack(powers)
    digits = range(1, (1 << (bits - 1)) + 1)
    multiples = ((digit << bits * window) % G.order for window in range(count) for digit in digits)
    return _multiples(G, 2, ints_to_limbs(multiples, SCALAR_LIMBS), serial)


def _best_window_bits(n: int) -> int:
    """Fewest additions: one a window and scalar, and a few for each entry of the table."""
    return min(range(2, 12), key=lambda bits: -(-256 // bits) * (n + (4 << (bits - 1) if bits > 2 else 0)))


def multiply_generator(G: Group, scalars: Limbs, run: Run) -> Limbs:
    """scalars[i]·G.generator as affine points (n, *G.point_shape), Montgomery.

    scalars: (n, 4) canonical, below the order. Raises ValueError for another shape.
    """
    check_scalars(scalars, len(scalars))
    return _multiples(G, _best_window_bits(len(scalars)), scalars, run)
