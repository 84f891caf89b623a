"""Multi-scalar multiplication Σ scalar·point by Pippenger's bucket method with signed digits.

Zeros and points at infinity are dropped first. Scalars ±1 and those below 2^64 are sums of their own: most of
a witness. The scalars of a sum are cut into windows. A task takes some windows and a range of points,
sorts the points by their digits and adds up each bucket (`batch_affine`). The buckets of a window are laid
out as a grid, whose rows and columns are added up in the same way; only these sums, some 2·2^(bits/2), are
weighted by running sums (Bernstein, Doumen, Lange, Oosterwijk, "Faster batch forgery identification", 2012).
So a point costs about 6 products a window, and a bucket 12.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu.batch_affine import Scratch, new_scratch, sum_by_digits, sum_groups
from kernels.cpu.batch_affine64 import element_words, is_infinity
from kernels.cpu.curve import add_affine_at, add_at, add_points, double_at, fold, read_only_bytes
from kernels.cpu.formulas import load_word
from kernels.cpu.lanes import lanes_of
from kernels.cpu.windows import (
    SCALAR_LIMBS,
    check_scalars,
    read_digits,
    window_bias,
    window_count,
)
from kernels.encoding import Limbs, ints_to_limbs
from kernels.fields import Field, Group, QuadraticField
from kernels.meter import holding
from kernels.parallel import Run, chunks, run_chunks, threads_of

MOST_POINTS_A_TASK = 1 << 20  # about a second's work: a stop is noticed between tasks
FEWEST_POINTS_A_TASK = 1 << 10
FEWEST_DIGITS_A_TASK, MANY_DIGITS_A_TASK = 1 << 13, 1 << 16  # more only for too few threads, or a window
MOST_WINDOW_BITS = 16
Task = tuple[int, int, int, int]  # first window, windows, start and stop of a range of the codes
Codes = NDArray[np.uint32]
KINDS = 3  # of scalars: 1, below 2^64, any; each with its own limit and limbs for it and its bias
KIND_LIMBS = (1, 2, SCALAR_LIMBS)


class Part(NamedTuple):
    """A sum of scalars of one kind, and its windows."""

    codes: Codes  # (m,): twice a point's number, plus 1 for a scalar that stands for order − scalar
    digits: NDArray[np.uint16]  # (windows, m), see `windows.read_digits`
    bits: int  # of a window


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


@njit(cache=True, nogil=True)
def _list(F: Any, codes: Any, starts: Any, points: Any, shape: Any, strides: Any) -> None:
    """Lists groups for `sum_groups`, without points at infinity.

    Point k of group (i, j) is number i·strides[0] + j·strides[1] + k·strides[2].
    """
    starts[0] = position = group = 0
    for i in range(shape[0]):
        for j in range(shape[1]):
            for k in range(shape[2]):
                number = i * strides[0] + j * strides[1] + k * strides[2]
                if not is_infinity(F, points, number):
                    codes[position] = np.uint32(2 * number)
                    position += 1
            group += 1
            starts[group] = position


@njit(cache=True, nogil=True)
def _add_weighted(F: Any, sums: Any, grid: Any, windows: int, rows: int, columns: int, shift: int) -> None:
    """XYZZ points 3·w + 1 of `sums` = 2^shift·Σ i·(row i) + Σ (j + 1)·(column j) of window w.

    grid: affine, the rows of all windows, then their columns. sums: all infinity; the others are scratch.
    """
    for w in range(windows):
        total = 4 * (3 * w + 1)
        for axis in range(2):  # each with a running sum of its own before or after the total
            running = total - 4 + 8 * axis
            size = columns if axis else rows
            first = windows * rows + w * columns if axis else w * rows
            for k in range(size - 1 + axis):
                add_affine_at(F, sums, running, grid, 2 * (first + size - 1 - k), False)
                add_at(F, sums, total, sums, running)
            if axis == 0:
                for _ in range(shift):
                    double_at(F, sums, total)


def _window_sums(
    F: Field | QuadraticField, points: Any, part: Part, scratches: list[Scratch], *task: int
) -> Limbs:
    """Σ digit·point of windows [first, first + windows) over [start, stop): (windows, 4, words), XYZZ.

    A window's bucket of digit k + 1 is in row i and column j of a grid, where k = columns·i + j.
    """
    first, windows, start, stop = task
    try:
        scratch = scratches.pop()
    except IndexError:  # every one is in use
        scratch = new_scratch(F)
    half, shift = 1 << (part.bits - 1), (part.bits - 1) // 2
    digits, highest = part.digits[first : first + windows], len(part.digits) - 1 - first
    with holding(*scratch):
        buckets = read_only_bytes(
            sum_by_digits(F, points, part.codes, digits, highest, half, (start, stop), scratch)
        )
        columns, rows = 1 << shift, half >> shift
        grid = np.zeros((2 * windows * (rows + columns), element_words(F)), np.uint64)
        codes, starts = np.empty(windows * half, np.uint32), np.empty(windows * half + 1, np.int64)
        with holding(buckets, grid, codes, starts):
            _list(F, codes, starts, buckets, (windows, rows, columns), (half, columns, 1))
            sum_groups(F, grid, 0, buckets, codes, starts, windows * rows, scratch)
            _list(F, codes, starts, buckets, (windows, columns, rows), (half, 1, columns))
            sum_groups(F, grid, windows * rows, buckets, codes, starts, windows * columns, scratch)
    scratches.append(scratch)
    sums = np.zeros((12 * windows, element_words(F)), np.uint64)
    _add_weighted(F, sums, grid, windows, rows, columns, shift)
    return sums.reshape(windows, 3, 4, -1)[:, 1]


def _tasks(part: Part, threads: int) -> list[Task]:
    """The tasks of a sum: few points take many windows, many a range each."""
    count, m = part.digits.shape
    windows = max(FEWEST_DIGITS_A_TASK // m, min(MANY_DIGITS_A_TASK // m, count // (4 * threads)), 1)
    windows = min(count, windows)
    parts = min(-(-2 * threads * windows // count), m // FEWEST_POINTS_A_TASK)
    spans = chunks(m, max(1, parts, -(-m // MOST_POINTS_A_TASK)))
    return [(i, min(windows, count - i), *span) for i in range(0, count, windows) for span in spans]


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


def _sum_part(G: Group, points: Any, part: Part, run: Run) -> Limbs:
    tasks = _tasks(part, threads_of(run))
    scratches: list[Scratch] = []
    with holding(part.digits):
        results = run(_window_sums, [(G.field, points, part, scratches, *task) for task in tasks])
    rows: list[list[Limbs]] = [[] for _ in part.digits]
    for (first, *_), sums in zip(tasks, results, strict=True):
        for w, row in enumerate(sums):
            rows[first + w].append(row)
    return fold(G, np.concatenate([row for window in rows for row in window]), len(rows[0]), part.bits)


def _kinds(G: Group, points: Any, scalars: Any, n: int, run: Run) -> list[Codes]:
    """The codes of each kind of scalar, of few the next kind's; no zeros, no points at infinity."""

    def select(start: int, stop: int) -> list[Codes]:
        codes, sizes = np.empty((KINDS, stop - start), np.uint32), np.zeros(KINDS, np.int64)
        # Off the subgroup (order − s)·P is not −s·P; a cofactor of 1 rules that out.
        with holding(codes):
            _select(G.field, points, scalars, order, G.cofactor == 1, start, stop, codes, sizes)
            return [codes[kind, :size].copy() for kind, size in enumerate(sizes)]

    order = ints_to_limbs([G.order], SCALAR_LIMBS)[0]
    found = run(select, chunks(n, max(1, min(4 * threads_of(run), n // FEWEST_POINTS_A_TASK))))
    kinds = [np.concatenate(each) for each in zip(*found, strict=True)]
    with holding(*kinds, *(codes for each in found for codes in each)):
        del found
    for kind in range(KINDS - 1):
        if 8 * len(kinds[kind]) < len(kinds[kind + 1]):
            kinds[kind + 1] = np.concatenate([kinds[kind + 1], kinds[kind]])
            kinds[kind] = kinds[kind][:0].copy()
    return kinds


def _part(G: Group, scalars: Any, codes: Codes, kind: int, run: Run) -> Part:
    limit, limbs = (2, 1 << 64, G.order)[kind], KIND_LIMBS[kind]
    bits = _best_window_bits(len(codes), limit, lanes_of(G.field) is not None)
    count = window_count(limit, bits)
    [bias] = ints_to_limbs([window_bias(bits, count)], limbs)
    [order] = ints_to_limbs([G.order], SCALAR_LIMBS)
    digits = np.empty((count, len(codes)), np.uint16)
    run_chunks(run, read_digits, len(codes), digits, codes, scalars, order, bias, bits)
    return Part(codes, digits, bits)


def msm(G: Group, points: Limbs, scalars: Limbs, run: Run) -> Limbs:
    """Σ scalars[i]·points[i] as an affine point of G.point_shape; infinity for none.

    points: (n, *G.point_shape), Montgomery, all zeros for infinity; scalars: (n, 4) canonical, below the
    order. Either may be a read-only or unaligned memory map. Raises ValueError for other shapes.
    """
    n = len(points)
    if points.shape[1:] != G.point_shape or points.dtype != np.uint64:
        raise ValueError(f"points are {points.dtype} {points.shape}, expected uint64 (n, *{G.point_shape})")
    check_scalars(scalars, n)
    total: Limbs = np.zeros(G.point_shape, np.uint64)
    if n == 0:
        return total
    inputs = read_only_bytes(points), read_only_bytes(scalars)
    kinds = _kinds(G, *inputs, n, run)
    with holding(*kinds):
        for kind, codes in enumerate(kinds):
            if len(codes):
                part_sum = _sum_part(G, inputs[0], _part(G, inputs[1], codes, kind, run), run)
                total = add_points(G, total, part_sum) if total.any() else part_sum
    return total
