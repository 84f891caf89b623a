"""The sums that a multi-scalar multiplication consists of: scalars sorted by kind and cut into windows."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu.batch_affine64 import is_infinity
from kernels.cpu.formulas import load_word
from kernels.cpu.lanes import lanes_of
from kernels.cpu.windows import SCALAR_LIMBS, read_digits, window_bias, window_count
from kernels.encoding import ints_to_limbs
from kernels.fields import Group
from kernels.meter import holding
from kernels.parallel import Run, chunks, run_chunks, threads_of
from kernels.table_shape import ROWS, SETS, WINDOW_BITS

FEWEST_SCALARS_A_TASK = 1 << 10
MOST_WINDOW_BITS = 16
Codes = NDArray[np.uint32]
KINDS = 3  # of scalars: 1, below 2^64, any; each with its own limit and limbs for it and its bias
KIND_LIMBS = (1, 2, SCALAR_LIMBS)
LONG = KINDS - 1
NO_WINDOW = -1


class Part(NamedTuple):
    """A sum of scalars of one kind, and its windows."""

    codes: Codes  # (m,): twice a point's number, plus 1 for a scalar that stands for order − scalar
    digits: NDArray[np.uint16]  # (windows, m), see `windows.read_digits`
    bits: int  # of a digit with its sign
    shift: int  # a window counts 2^shift times as much as the one before
    unsigned: int  # the window whose digits have no sign, or NO_WINDOW


@njit(cache=True, nogil=True)
def _select(
    F: Any, points: Any, scalars: Any, order: Any, negate: bool, start: int, stop: int, codes: Any, sizes: Any
) -> None:
    """Sorts [start, stop) by kind into the rows of `codes`, (KINDS, stop − start); sizes: (KINDS,).

    order: (SCALAR_LIMBS,). negate: whether order − scalar is to be tried, too.
    """
    for i in range(start, stop):
        low, second = load_word(scalars, SCALAR_LIMBS * i), load_word(scalars, SCALAR_LIMBS * i + 1)
        third, top = load_word(scalars, SCALAR_LIMBS * i + 2), load_word(scalars, SCALAR_LIMBS * i + 3)
        code = np.uint32(2 * i)
        if negate and top == order[3] and third == order[2]:
            borrow = np.uint64(order[0] < low)
            if order[1] - second == borrow:
                low, second, third, top = order[0] - low, np.uint64(0), np.uint64(0), np.uint64(0)
                code += np.uint32(1)
        is_long = (second | third | top) != 0
        if (is_long or low != 0) and not is_infinity(F, points, i):
            kind = 2 if is_long else int(low != 1)
            codes[kind, sizes[kind]] = code
            sizes[kind] += 1


def kinds_of(G: Group, points: Any, scalars: Any, n: int, run: Run) -> list[Codes]:
    """The codes of each kind of scalar, of few the next kind's; no zeros, no points at infinity."""

    def select(start: int, stop: int) -> list[Codes]:
        codes, sizes = np.empty((KINDS, stop - start), np.uint32), np.zeros(KINDS, np.int64)
        # Off the subgroup (order − s)·P is not −s·P; a cofactor of 1 rules that out.
        with holding(codes):
            _select(G.field, points, scalars, order, G.cofactor == 1, start, stop, codes, sizes)
            return [codes[kind, :size].copy() for kind, size in enumerate(sizes)]

    order = ints_to_limbs([G.order], SCALAR_LIMBS)[0]
    found = run(select, chunks(n, max(1, min(4 * threads_of(run), n // FEWEST_SCALARS_A_TASK))))
    kinds = [np.concatenate(each) for each in zip(*found, strict=True)]
    with holding(*kinds, *(codes for each in found for codes in each)):
        del found
    for kind in range(KINDS - 1):
        if 8 * len(kinds[kind]) < len(kinds[kind + 1]):
            kinds[kind + 1] = np.concatenate([kinds[kind + 1], kinds[kind]])
            kinds[kind] = kinds[kind][:0].copy()
    return kinds


def part_of(G: Group, scalars: Any, codes: Codes, kind: int, run: Run) -> Part:
    """The sum of the scalars of one kind. scalars: bytes of (n, SCALAR_LIMBS)."""
    limit = (2, 1 << 64, G.order)[kind]
    bits = _best_window_bits(len(codes), limit, lanes_of(G.field) is not None)
    count = window_count(limit, bits)
    digits = np.empty((count, len(codes)), np.uint16)
    _read(G, digits, scalars, codes, bits, KIND_LIMBS[kind], run)
    return Part(codes, digits, bits, bits, count - 1)


def table_part(G: Group, n: int, scalars: Any, codes: Codes, run: Run) -> Part:
    """The sum of scalars of any kind over a table of n points: a row's windows are one with ROWS·m points."""
    count = window_count(G.order, WINDOW_BITS)
    digits = np.zeros((SETS * ROWS, len(codes)), np.uint16)
    _read(G, digits[:count], scalars, codes, WINDOW_BITS, SCALAR_LIMBS, run)
    of_rows = 2 * n * np.arange(ROWS, dtype=np.uint32)[:, None]
    # The highest digit needs no sign, but has room for one: it is at most 2^(WINDOW_BITS − 1).
    every = digits.reshape(SETS, ROWS * len(codes))
    return Part((of_rows + codes).reshape(-1), every, WINDOW_BITS, ROWS * WINDOW_BITS, NO_WINDOW)


def _read(
    G: Group, digits: NDArray[np.uint16], scalars: Any, codes: Codes, bits: int, limbs: int, run: Run
) -> None:
    """Fill in digits (windows, m) of the scalars that `codes` (m,) name; limbs: of a scalar with its bias."""
    [bias] = ints_to_limbs([window_bias(bits, len(digits))], limbs)
    [order] = ints_to_limbs([G.order], SCALAR_LIMBS)
    run_chunks(run, read_digits, len(codes), digits, codes, scalars, order, bias, bits)


def _best_window_bits(n: int, limit: int, in_lanes: bool) -> int:
    """Fewest products, or their time, in `n` scalars below `limit`.

    The running sums are made in 64-bit limbs anyway, where a product takes as long as five in lanes.
    """
    for_bucket, for_row_and_column = (8, 5 * 48) if in_lanes else (1, 48)

    def products(bits: int) -> float:
        half = 1 << (bits - 1)
        occupied = half * -np.expm1(-n / half)
        in_window = 7 * (n + occupied) + for_bucket * half + for_row_and_column * np.sqrt(half)
        return window_count(limit, bits) * float(in_window)

    return min(range(2, MOST_WINDOW_BITS + 1), key=products)
