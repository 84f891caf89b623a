"""Multi-scalar multiplication Σ scalar·point on a device, by Pippenger's bucket method with signed digits.

Everything up to one sum a window is done on the device; the windows are put together by the processor.
"""

from functools import cache
from typing import Any

import numpy as np

from kernels.cpu.curve import fold
from kernels.cpu.windows import SCALAR_LIMBS, window_count
from kernels.cuda.buckets import bucket_sums
from kernels.cuda.digits import sort_by_digit
from kernels.cuda.memory import Workspace
from kernels.cuda.pairs import add_pairs
from kernels.cuda.weighing import weighted_sums
from kernels.encoding import Limbs
from kernels.fields import Group
from kernels.parallel import chunks

MOST_WINDOW_BITS = 22
MOST_ENTRIES = 1 << 28  # sorted at once, in 8 bytes each
TASKS = 1 << 18  # runs of entries, several for each thread that a device holds at once


@cache
def best_window_bits(n: int, order: int) -> int:
    """Fewest products: 10 for a point and window, 28 for each bucket to weigh."""

    def products(bits: int) -> int:
        return window_count(order, bits) * (10 * n + 28 * (1 << (bits - 1)))

    return min(range(2, MOST_WINDOW_BITS + 1), key=products)


def msm(
    G: Group,
    points: Any,
    scalars: Any,
    workspace: Workspace,
    window_bits: int = 0,
    tasks: int = TASKS,
    rounds: int = 0,
) -> Limbs:
    """Σ scalars[i]·points[i] as an affine point of G.point_shape, in host memory; infinity for none.

    points: device, (n, *G.point_shape), Montgomery, all zeros for infinity; scalars: device, (n, 4)
    canonical, below the order; both uint64 and C-contiguous. Raises ValueError for other shapes.
    window_bits: 0 to choose. tasks: see `buckets.bucket_sums`. rounds: of `pairs.add_pairs` before that; two
    save a tenth of the time over Fq2, and none over Fq, but take ten times the memory.
    """
    n = points.shape[0]
    if points.shape[1:] != G.point_shape or points.dtype != np.uint64:
        raise ValueError(f"points are {points.dtype} {points.shape}, expected uint64 (n, *{G.point_shape})")
    if scalars.shape != (n, SCALAR_LIMBS) or scalars.dtype != np.uint64:
        raise ValueError(f"scalars are {scalars.dtype} {scalars.shape}, expected uint64 {(n, SCALAR_LIMBS)}")
    if n == 0:
        return np.zeros(G.point_shape, np.uint64)
    bits = window_bits or best_window_bits(n, G.order)
    windows = window_count(G.order, bits)
    sums = [
        _sum_windows(G.field, points, scalars, bits, windows, span, rounds, tasks, workspace)
        for span in chunks(windows, -(-windows * n // MOST_ENTRIES))
    ]
    return fold(G, np.concatenate(sums), 2, 1)


def _sum_windows(
    F: Any,
    points: Any,
    scalars: Any,
    bits: int,
    windows: int,
    span: tuple[int, int],
    rounds: int,
    tasks: int,
    workspace: Workspace,
) -> Limbs:
    """The points of `weighted_sums` for the windows of a span, in host memory."""
    entries, starts = sort_by_digit(scalars, bits, windows, span, workspace)
    if rounds > 0:
        points, entries, starts = add_pairs(F, points, entries, starts, rounds, workspace)
    buckets = bucket_sums(F, points, entries, starts, tasks, workspace)
    sums: Limbs = weighted_sums(F, buckets, bits, span[1] - span[0], workspace).copy_to_host()
    return sums
