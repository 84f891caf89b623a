"""Multi-scalar multiplication Σ scalar·point by Pippenger's bucket method with signed digits.

Zeros and points at infinity are dropped first. Scalars ±1 and those below 2^64 are sums of their own: most of
a witness. The scalars of a sum are cut into windows. A task takes some windows and a range of points,
sorts the points by their digits and adds up each bucket (`batch_affine`). The buckets of a window are laid
out as a grid, whose rows and columns are added up in the same way; only these sums, some 2·2^(bits/2), are
weighted by running sums (Bernstein, Doumen, Lange, Oosterwijk, "Faster batch forgery identification", 2012).
So a point costs about 6 products a window, and a bucket 12.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.cpu.batch_affine import Scratch, new_scratch, sum_by_digits, sum_groups
from kernels.cpu.batch_affine64 import element_words, is_infinity
from kernels.cpu.curve import add_affine_at, add_at, add_points, double_at, fold, read_only_bytes
from kernels.cpu.scalar_parts import LONG, NO_WINDOW, Part, kinds_of, part_of, table_part
from kernels.cpu.tables import Table
from kernels.cpu.windows import check_scalars
from kernels.encoding import Limbs
from kernels.fields import Field, Group, QuadraticField
from kernels.meter import holding
from kernels.parallel import Run, chunks, threads_of
from kernels.table_shape import ROWS

MOST_POINTS_A_TASK = 1 << 20  # about a second's work: a stop is noticed between tasks
FEWEST_POINTS_A_TASK = 1 << 10
FEWEST_DIGITS_A_TASK, MANY_DIGITS_A_TASK = 1 << 13, 1 << 16  # more only for too few threads, or a window
Task = tuple[int, int, int, int]  # first window, windows, start and stop of a range of the codes


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
    digits, highest = part.digits[first : first + windows], part.unsigned - first
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
    # A table's windows take equally long: one task a thread will do where they can be shared out.
    wanted = threads if part.unsigned == NO_WINDOW and threads % count == 0 else 2 * threads
    parts = min(-(-wanted * windows // count), m // FEWEST_POINTS_A_TASK)
    spans = chunks(m, max(1, parts, -(-m // MOST_POINTS_A_TASK)))
    return [(i, min(windows, count - i), *span) for i in range(0, count, windows) for span in spans]


def _sum_part(G: Group, points: Any, part: Part, run: Run) -> Limbs:
    tasks = _tasks(part, threads_of(run))
    scratches: list[Scratch] = []
    with holding(part.digits):
        results = run(_window_sums, [(G.field, points, part, scratches, *task) for task in tasks])
    rows: list[list[Limbs]] = [[] for _ in part.digits]
    for (first, *_), sums in zip(tasks, results, strict=True):
        for w, row in enumerate(sums):
            rows[first + w].append(row)
    return fold(G, np.concatenate([row for window in rows for row in window]), len(rows[0]), part.shift)


def msm(G: Group, points: Limbs | Table, scalars: Limbs, run: Run) -> Limbs:
    """Σ scalars[i]·points[i] as an affine point of G.point_shape; infinity for none.

    points: (n, *G.point_shape), Montgomery, all zeros for infinity, or a table of them; scalars: (n, 4)
    canonical, below the order. Either may be a read-only or unaligned memory map. Raises ValueError for other
    shapes.
    """
    every = points.points if isinstance(points, Table) else points[None]
    rows, n = every.shape[:2]
    if every.shape[2:] != G.point_shape or every.dtype != np.uint64:
        raise ValueError(f"points are {every.dtype} {every.shape[1:]}, expected uint64 (n, *{G.point_shape})")
    if rows != (ROWS if isinstance(points, Table) else 1):
        raise ValueError(f"a table has {rows} rows, expected {ROWS}")
    check_scalars(scalars, n)
    total: Limbs = np.zeros(G.point_shape, np.uint64)
    if n == 0:
        return total
    inputs = read_only_bytes(every), read_only_bytes(scalars)
    kinds = kinds_of(G, *inputs, n, run)
    with holding(*kinds):
        for kind, codes in enumerate(kinds):
            if len(codes):
                if rows > 1 and kind == LONG:
                    part = table_part(G, n, inputs[1], codes, run)
                else:
                    part = part_of(G, inputs[1], codes, kind, run)
                with holding(*([] if part.codes is codes else [part.codes])):
                    part_sum = _sum_part(G, inputs[0], part, run)
                total = add_points(G, total, part_sum) if total.any() else part_sum
    return total
