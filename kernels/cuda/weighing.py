"""The sums of buckets weighted by the size of their digit.

The buckets of a window are laid out as a grid. Bucket k, of weight k + 1, is in row i and column j, where
k = 2^log2_columns·i + j; so only the sums of rows and of columns need weights, i and j + 1. These are taken
bit by bit: bit b of a weight adds 2^b times the sum of all that have it. What is left for the processor is a
sum of doublings. No thread adds more than GROUP points in a row.
"""

from typing import Any

from numba import cuda

from kernels.cuda import curve
from kernels.cuda.launch import SIMULATED, kernel, launch
from kernels.cuda.memory import Workspace, element_words

GROUP_BITS = 4
LOG2_CHUNK = 1 if SIMULATED else 3
CHUNK = 1 << LOG2_CHUNK  # rows or columns that a thread adds for a bit


@kernel
def _sum_groups(F: Any, points: Any, n: int, columns: int, group: int, out: Any) -> None:
    """out[i, j] = Σ points[group·i + k, j] over k below `group`; `columns` and n points a row and in all."""
    t = cuda.grid(1)
    if t >= n:
        return
    i, j = t // columns, t % columns
    total = curve.load_point(F, points, i * group * columns + j)
    for k in range(1, group):
        total = curve.add(F, total, curve.load_point(F, points, (i * group + k) * columns + j))
    curve.store_point(F, out, t, total)


@kernel
def _sum_bits(
    F: Any, column_sums: Any, row_sums: Any, log2_columns: int, log2_rows: int, n: int, chunks: int, out: Any
) -> None:
    """out[w, p, q] = chunk q of the columns whose weight has bit p, or of the rows with p − log2_columns."""
    t = cuda.grid(1)
    if t >= n:
        return
    bits = log2_columns + log2_rows
    chunk, p, window = t % chunks, t // chunks % bits, t // chunks // bits
    is_row = p >= log2_columns
    bit = p - log2_columns if is_row else p
    weights = 1 << ((log2_rows if is_row else log2_columns) - 1)
    total = curve.infinity(F)
    for k in range(chunk * CHUNK, min((chunk + 1) * CHUNK, weights)):
        weight = k >> bit << (bit + 1) | 1 << bit | k & ((1 << bit) - 1)
        if is_row:
            point = curve.load_point(F, row_sums, (window << log2_rows) + weight)
        else:
            point = curve.load_point(F, column_sums, (window << log2_columns) + weight - 1)
        total = curve.add(F, total, point)
    curve.store_point(F, out, t, total)


@kernel
def _arrange(
    F: Any, sums: Any, column_sums: Any, log2_columns: int, log2_rows: int, n: int, out: Any
) -> None:
    """out[w, b] = two points that bit b of window w is the sum of: the columns' and the rows'."""
    t = cuda.grid(1)
    if t >= n:
        return
    bits = log2_columns + log2_rows
    is_row, b, window = t & 1, (t >> 1) % (bits + 1), (t >> 1) // (bits + 1)
    first, last = (log2_columns, bits) if is_row else (0, log2_columns)
    p = b  # rows' bits come after the columns' in `sums` as in the result: a row weighs 2^log2_columns
    total = curve.infinity(F)
    if first <= p < last:
        total = curve.load_point(F, sums, window * bits + p)
    elif b == log2_columns and is_row == 0:  # the last column's weight, 2^log2_columns
        total = curve.load_point(F, column_sums, ((window + 1) << log2_columns) - 1)
    curve.store_point(F, out, t, total)


def _sum_axis(
    F: Any, points: Any, n: int, columns: int, log2_group: int, name: str, workspace: Workspace
) -> Any:
    """Sums of 2^log2_group points each, `columns` apart, of n points."""
    while log2_group > 0:
        step = min(GROUP_BITS, log2_group)
        n >>= step
        log2_group -= step
        following = workspace.array(f"{name} {log2_group}", (4 * n, element_words(F)), "uint64")
        launch(_sum_groups, n, F, points, n, columns, 1 << step, following)
        points = following
    return points


def weighted_sums(F: Any, buckets: Any, bits: int, windows: int, workspace: Workspace) -> Any:
    """Σ (k + 1)·(bucket k) of each window's 2^(bits−1) buckets as the points of a sum of doublings.

    (4·windows·bits·2, words): two XYZZ points for each bit of each window, from the lowest up; either is to
    be multiplied by 2 to the bit's number.
    """
    log2_columns = (bits - 1) // 2
    log2_rows = bits - 1 - log2_columns
    count, words = windows << bits - 1, element_words(F)
    column_sums = _sum_axis(F, buckets, count, 1 << log2_columns, log2_rows, "column sums", workspace)
    row_sums = _sum_axis(F, buckets, count, 1, log2_columns, "row sums", workspace)
    log2_chunks, shape = max(0, log2_rows - 1 - LOG2_CHUNK), (log2_columns, log2_rows)
    n = windows * (bits - 1) << log2_chunks
    sums = workspace.array("bit sums", (4 * n, words), "uint64")
    launch(_sum_bits, n, F, column_sums, row_sums, *shape, n, 1 << log2_chunks, sums)
    sums = _sum_axis(F, sums, n, 1, log2_chunks, "chunk sums", workspace)
    out = workspace.array("weighted sums", (8 * windows * bits, words), "uint64")
    launch(_arrange, 2 * windows * bits, F, sums, column_sums, *shape, 2 * windows * bits, out)
    return out
