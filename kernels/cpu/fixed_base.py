"""Many multiples of a group's generator, as a setup needs them, from tables of its multiples.

The table holds (d + 1)·2^(c·w)·generator for every window w and every digit size d + 1, so that a multiple
is the sum of one entry a window (Brickell, Gordon, McCurley, Wilson, "Fast exponentiation with
precomputation", 1992): a group of `batch_affine`, at about 6 products an entry.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu.batch_affine import new_scratch, sum_groups
from kernels.cpu.batch_affine64 import element_words
from kernels.cpu.curve import add_points, read_only_bytes
from kernels.cpu.windows import (
    SCALAR_LIMBS,
    check_scalars,
    load_scalars,
    signed_digit,
    window_bias,
    window_count,
)
from kernels.encoding import Limbs, encode_points, ints_to_limbs
from kernels.fields import Field, Group, QuadraticField
from kernels.parallel import Run, run_chunks, serial

FEWEST_SCALARS_A_TASK = 256
ENTRIES_AT_A_TIME = 1 << 16  # many blocks of points; their sorted numbers stay in the second-level cache


@njit(cache=True, nogil=True)
def _list_entries(codes: Any, starts: Any, biased: Any, bits: int, count: int) -> None:
    """The table's entries that make up each scalar, for `sum_groups`."""
    half = 1 << (bits - 1)
    starts[0] = position = 0
    for i in range(biased.shape[0]):
        for window in range(count):
            digit = signed_digit(biased, i, bits, count, window)
            if digit != 0:
                codes[position] = np.uint32(2 * (window * half + abs(digit) - 1) + (digit < 0))
                position += 1
        starts[i + 1] = position


def _multiply(F: Field | QuadraticField, out: Limbs, inputs: Any, start: int, stop: int) -> None:
    """out[i] = scalars[i]·generator for [start, stop); out is all infinity."""
    table, scalars, bits, count = inputs
    bias = ints_to_limbs([window_bias(bits, count)], SCALAR_LIMBS)[0]
    scratch = new_scratch(F)
    step = max(1, ENTRIES_AT_A_TIME // count)
    plain = 2 * np.arange(start, stop, dtype=np.uint32)
    biased = np.empty((step, SCALAR_LIMBS), np.uint64)
    codes, starts = np.empty(step * count, np.uint32), np.empty(step + 1, np.int64)
    for first in range(start, stop, step):
        size = min(step, stop - first)
        load_scalars(biased, plain[first - start :], scalars, bias, bias, 0, size)
        _list_entries(codes, starts, biased[:size], bits, count)
        sum_groups(F, out, first, table, codes, starts, size, scratch)


def _multiples(G: Group, bits: int, scalars: Limbs, run: Run) -> Limbs:
    """scalars·generator by the table for windows of `bits`."""
    count = window_count(G.order, bits)
    out: Limbs = np.zeros((2 * len(scalars), element_words(G.field)), np.uint64)
    inputs = read_only_bytes(_table(G, bits)), read_only_bytes(scalars), bits, count
    run_chunks(run, _multiply, len(scalars), G.field, out, inputs, minimum=FEWEST_SCALARS_A_TASK)
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
    return _multiples(G, max(2, bits // 2), ints_to_limbs(multiples, SCALAR_LIMBS), serial)


def _best_window_bits(n: int) -> int:
    """Fewest additions: one a window and scalar, and a few for each entry of the table."""
    return min(range(2, 13), key=lambda bits: -(-256 // bits) * (n + (4 << (bits - 1) if bits > 2 else 0)))


def multiply_generator(G: Group, scalars: Limbs, run: Run) -> Limbs:
    """scalars[i]·G.generator as affine points (n, *G.point_shape), Montgomery.

    scalars: (n, 4) canonical, below the order. Raises ValueError for another shape.
    """
    check_scalars(scalars, len(scalars))
    return _multiples(G, _best_window_bits(len(scalars)), scalars, run)
