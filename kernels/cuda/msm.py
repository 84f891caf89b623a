"""Multi-scalar multiplication Σ scalar·point on a device, by Pippenger's bucket method with signed digits.

Everything up to one sum a window is done on the device; the windows are put together by the processor.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kernels.cpu.curve import fold, lift
from kernels.cpu.windows import check_scalars
from kernels.cuda import sparse
from kernels.cuda.buckets import bucket_sums
from kernels.cuda.digits import Base, Windows, base_of_bits, smallest_base, sort_by_digit
from kernels.cuda.memory import Workspace, element_words
from kernels.cuda.tiles import LOG2_SPAN
from kernels.cuda.weighing import weighted_sums
from kernels.encoding import Limbs
from kernels.fields import Group
from kernels.parallel import chunks

MOST_WINDOW_BITS = 2 * LOG2_SPAN + 1
MOST_ENTRIES = 1 << 28  # sorted at once, in 12 bytes each


@cache
def best_base(n: int, order: int, rows: int = 1) -> Base:
    """Fewest products: 10 for a point and window, 28 for each bucket to weigh.

    rows: of a table of multiples (`kernels.cuda.tables`). Sets of buckets are put together by doublings, so
    the base is a power of two unless there is but one.
    """
    bases = [base_of_bits(order, bits) for bits in range(2, MOST_WINDOW_BITS + 1)]
    bases += [smallest_base(order, count) for count in range(2, rows + 1) if count < order.bit_length()]

    def products(base: Base) -> int:
        return base.count * 10 * n + -(-base.count // rows) * 28 * base.half

    return min((base for base in bases if 2 <= base.bits <= MOST_WINDOW_BITS), key=products)


@dataclass(frozen=True)
class Doublings:
    """A point as a device leaves it: Σ 2^i·(the sum of `group_size` points from number i·group_size on).

    rows: host, the points in XYZZ coordinates, (4n, words); more: one, (4, words), that is not doubled.
    """

    group: Group
    rows: Limbs
    group_size: int
    more: Limbs | None = None

    def point(self) -> Limbs:
        """The affine point, all zeros for infinity; a millisecond or more of one processor's time."""
        total = fold(self.group, self.rows, self.group_size, 1)
        if self.more is None:
            return total
        return fold(self.group, np.concatenate([lift(self.group, total), self.more]), 2, 0)


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
    parts = sparse.split(scalars, workspace)
    if parts is None:
        return Doublings(G, _sum_all(G, points, scalars, None, workspace, window_bits, tasks), 2)
    ones, starts, numbers = parts
    more = bucket_sums(G.field, points, ones, starts, tasks, workspace).copy_to_host()
    if len(numbers) == 0:
        return Doublings(G, np.zeros((0, element_words(G.field)), np.uint64), 2, more)
    scalars = sparse.take(scalars, numbers, workspace)
    return Doublings(G, _sum_all(G, points, scalars, numbers, workspace, window_bits, tasks), 2, more)


def _sum_all(
    G: Group, points: Any, scalars: Any, numbers: Any, workspace: Workspace, window_bits: int, tasks: int
) -> Limbs:
    """The rows of a `Doublings`; scalar i belongs to point numbers[i], or to point i."""
    n = scalars.shape[0]
    base = base_of_bits(G.order, window_bits) if window_bits else best_base(n, G.order)
    sums = []
    for first, last in chunks(base.count, -(-base.count * n // MOST_ENTRIES)):
        windows = Windows(base, first, last, sets=last - first)
        sums.append(sum_windows(G.field, points, scalars, windows, workspace, tasks, numbers))
    return np.concatenate(sums)


def sum_windows(
    F: Any,
    points: Any,
    scalars: Any,
    windows: Windows,
    workspace: Workspace,
    tasks: int = 0,
    numbers: Any = None,
) -> Limbs:
    """What `weighted_sums` gives for the sets of buckets that these windows fill, in host memory.

    numbers: device, which point each scalar belongs to; None where scalar i belongs to point i.
    """
    entries, starts = sort_by_digit(scalars, windows, workspace)
    if numbers is not None:
        sparse.rename(entries, starts, numbers)
    buckets = bucket_sums(F, points, entries, starts, tasks, workspace)
    sums: Limbs = weighted_sums(F, buckets, windows.base.bits, windows.sets, workspace).copy_to_host()
    return sums
