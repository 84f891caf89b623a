"""Multi-scalar multiplication Σ scalar·point on a device, by Pippenger's bucket method with signed digits.

Everything up to one sum a window is done on the device; the windows are put together by the processor.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kernels.cpu.curve import fold
from kernels.cpu.windows import check_scalars, window_count
from kernels.cuda.buckets import bucket_sums
from kernels.cuda.digits import Windows, sort_by_digit
from kernels.cuda.memory import Workspace, element_words
from kernels.cuda.radix import LOG2_SPAN
from kernels.cuda.weighing import weighted_sums
from kernels.encoding import Limbs
from kernels.fields import Group
from kernels.parallel import chunks

MOST_WINDOW_BITS = 2 * LOG2_SPAN + 1
MOST_ENTRIES = 1 << 28  # sorted at once, in 12 bytes each


@cache
def best_window_bits(n: int, order: int, rows: int = 1) -> int:
    """Fewest products: 10 for a point and window, 28 for each bucket to weigh.

    rows: of a table of multiples (`kernels.cuda.tables`).
    """

    def products(bits: int) -> int:
        windows = window_count(order, bits)
        return windows * 10 * n + -(-windows // rows) * 28 * (1 << (bits - 1))

    return min(range(2, MOST_WINDOW_BITS + 1), key=products)


@dataclass(frozen=True)
class Doublings:
    """A point as a device leaves it: Σ 2^i·(the sum of `group_size` points from number i·group_size on).

    rows: host, the points in XYZZ coordinates, (4n, words).
    """

    group: Group
    rows: Limbs
    group_size: int

    def point(self) -> Limbs:
        """The affine point, all zeros for infinity; a millisecond or more of one processor's time."""
        return fold(self.group, self.rows, self.group_size, 1)


def msm(G: Group, points: Any, scalars: Any, workspace: Workspace, *choices: Any, **named: Any) -> Limbs:
    """Σ scalars[i]·points[i] as an affine point of G.point_shape, in host memory; see `start_msm`."""
    return start_msm(G, points, scalars, workspace, *choices, **named).point()


def start_msm(
    G: Group,
    points: Any,
    scalars: Any,
    workspace: Workspace,
    window_bits: int = 0,
    tasks: int = 0,
) -> Doublings:
    """Σ scalars[i]·points[i] up to what is left for the processor; the device is free for others then.

    points: device, (n, *G.point_shape), Montgomery, all zeros for infinity; scalars: device, (n, 4)
    canonical, below the order; both uint64 and C-contiguous. Raises ValueError for other shapes.
    window_bits: 0 to choose. tasks: see `buckets.bucket_sums`.
    """
    n = points.shape[0]
    if points.shape[1:] != G.point_shape or points.dtype != np.uint64:
        raise ValueError(f"points are {points.dtype} {points.shape}, expected uint64 (n, *{G.point_shape})")
    check_scalars(scalars, n)
    if n == 0:
        return Doublings(G, np.zeros((0, element_words(G.field)), np.uint64), 2)
    bits = window_bits or best_window_bits(n, G.order)
    count = window_count(G.order, bits)
    sums = []
    for first, last in chunks(count, -(-count * n // MOST_ENTRIES)):
        windows = Windows(bits, count, first, last, sets=last - first)
        sums.append(sum_windows(G.field, points, scalars, windows, workspace, tasks))
    return Doublings(G, np.concatenate(sums), 2)


def sum_windows(
    F: Any,
    points: Any,
    scalars: Any,
    windows: Windows,
    workspace: Workspace,
    tasks: int = 0,
) -> Limbs:
    """What `weighted_sums` gives for the sets of buckets that these windows fill, in host memory."""
    entries, starts = sort_by_digit(scalars, windows, workspace)
    buckets = bucket_sums(F, points, entries, starts, tasks, workspace)
    sums: Limbs = weighted_sums(F, buckets, windows.bits, windows.sets, workspace).copy_to_host()
    return sums
