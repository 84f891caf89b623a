"""The sums of `kernels.cpu.batch_affine` on eight groups at once.

A lane takes a group (`lane_bundles`), so that points are transposed once, when they are loaded; the rounds
after that read and write whole vectors, in a block that stays in the second-level cache. A round halves every
bundle there, and its sums move together to make room for new bundles, so each round has about as many
additions to share its inversion, whatever the size of groups. Meanwhile the points of the next bundles are
fetched. `lane_rounds` holds what a round does.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu import lane_points as p
from kernels.cpu import lanes
from kernels.cpu.batch_affine64 import copy_point
from kernels.cpu.curve import read_only_bytes
from kernels.cpu.lane_bundles import MOST_POINTS, Bundles, lay_out
from kernels.cpu.lane_rounds import CHAINS, add_pairs
from kernels.cpu.lanes import LANES, LaneField
from kernels.encoding import Limbs
from kernels.meter import holding

BLOCK_BYTES = 3 << 18  # of points; a quarter more is needed for the slopes
PREFETCH_DISTANCE = 4  # vectors


class Scratch(NamedTuple):
    """What `sum_groups` writes on; one a thread. A block holds v vectors of points."""

    points: Limbs  # lanes, (2·v, …): x and y
    slopes: Limbs  # lanes, (v / 2, …): of a round's pairs; until then products of the denominators before
    chains: Limbs  # lanes, (2·CHAINS, …): each chain's product or its inverse; products of those before
    rows: Limbs  # (16, words): eight points
    pairs: NDArray[np.int32]  # (v / 2, 3): vectors of a round's summands and of their sum
    alone: NDArray[np.uint8]  # (v / 2,): whether the vector after the left one has no partner
    settled: NDArray[np.uint16]  # (v / 2,): SETTLED and a mask, see `lane_rounds`
    active: NDArray[np.int32]  # (v, 3): a bundle's number, its first vector in the block, its size


def new_scratch(F: LaneField) -> Scratch:
    vectors = max(MOST_POINTS, BLOCK_BYTES // (2 * 8 * LANES * F.vectors))
    points, slopes, chains = (lanes.empty(F, groups) for groups in (2 * vectors, vectors // 2, 2 * CHAINS))
    rows, pairs = np.empty((2 * LANES, F.words), np.uint64), np.empty((vectors // 2, 3), np.int32)
    alone, settled = np.empty(vectors // 2, np.uint8), np.empty(vectors // 2, np.uint16)
    return Scratch(points, slopes, chains, rows, pairs, alone, settled, np.empty((vectors, 3), np.int32))


def sum_groups(
    F: LaneField, sums: Limbs, first: int, points: Any, codes: Any, starts: Any, count: int, scratch: Scratch
) -> None:
    """As `batch_affine.sum_groups`."""
    if count:
        sum_bundles(F, sums, first + np.arange(count), points, lay_out(codes, starts, count), scratch)


def sum_bundles(
    F: LaneField, sums: Limbs, targets: NDArray[np.int64], points: Any, bundles: Bundles, scratch: Scratch
) -> None:
    """sums[targets[g]] = the sum of group g; groups that were cut are summed in pieces, then the pieces."""
    partials = np.zeros((2 * int(bundles.cut_starts[-1]), F.words), np.uint64)
    with holding(targets, partials, *bundles):
        _sum_bundles(F, sums, targets, partials, points, bundles[:4], scratch)
        if len(bundles.cut_groups):
            codes = 2 * np.arange(len(partials) // 2, dtype=np.uint32)
            pieces = lay_out(codes, bundles.cut_starts, len(bundles.cut_groups))
            sum_bundles(F, sums, targets[bundles.cut_groups], read_only_bytes(partials), pieces, scratch)


@njit(cache=True, nogil=True)
def _sum_bundles(
    F: Any, sums: Any, targets: Any, partials: Any, points: Any, bundles: Any, scratch: Any
) -> None:
    codes, missing, sizes, pieces = bundles
    active, bundle, used, at = scratch.active, 0, 0, 0
    count = 0
    while count or bundle < sizes.shape[0]:
        while bundle < sizes.shape[0] and used + sizes[bundle] <= 2 * scratch.pairs.shape[0]:
            _load(F, scratch, points, codes, missing, at, used, sizes[bundle])
            active[count, 0], active[count, 1], active[count, 2] = bundle, used, sizes[bundle]
            at, used = at + sizes[bundle], used + sizes[bundle]
            count, bundle = count + 1, bundle + 1
        pairs = _pair_up(scratch, count)
        if pairs:
            add_pairs(F, scratch, pairs, points, codes, 8 * at)
        found, count, used = count, 0, 0
        for i in range(found):
            if active[i, 2] == 1:
                own = np.int64(active[i, 0])
                _store(F, scratch, active[i, 1], sizes[own])
                for lane in range(8):
                    piece = pieces[8 * own + lane]
                    if piece >= 0:
                        copy_point(F.field, sums, targets[piece], scratch.rows, lane)
                    elif piece < -1:
                        copy_point(F.field, partials, -2 - piece, scratch.rows, lane)
            else:
                used = active[i, 1] + active[i, 2]
                for k in range(3):  # an assignment of rows would compile what numba says of wrong shapes
                    active[count, k] = active[i, k]
                count += 1


@njit(cache=True, nogil=True)
def _pair_up(scratch: Any, count: int) -> int:
    """Pairs the first half of every active bundle with its second; the number of pairs. Sums lie together.

    Of an odd number of vectors the middle one waits. Bundles of one vector are the last, and stay.
    """
    pairs, active = scratch.pairs, scratch.active
    found = to = 0
    for i in range(count):
        first, size = active[i, 1], active[i, 2]
        half, rest = size >> 1, size - (size >> 1)
        for k in range(half):
            pairs[found, 0], pairs[found, 1], pairs[found, 2] = first + k, first + rest + k, to + k
            scratch.alone[found] = 0
            found += 1
        if half:
            scratch.alone[found - 1] = rest - half
            active[i, 1], active[i, 2] = to, rest
            to += rest
    return found


@njit(cache=True, nogil=True)
def _load(
    F: Any, scratch: Any, points: Any, codes: Any, missing: Any, at: int, first: int, count: int
) -> None:
    """Vectors [at, at + count) of `codes` to the block, from its vector `first` on."""
    for i in range(count):
        ahead = 8 * min(at + i + PREFETCH_DISTANCE, missing.shape[0] - 1)
        p.prefetch_points(F, points, codes, ahead)
        p.prefetch_points(F, points, codes, ahead + 4)
        x, y = p.load_points(F, points, codes, 8 * (at + i))
        if missing[at + i]:
            x = lanes.select(F, missing[at + i], lanes.zero(F), x)
            y = lanes.select(F, missing[at + i], lanes.zero(F), y)
        lanes.store(F, scratch.points, 2 * (first + i), x)
        lanes.store(F, scratch.points, 2 * (first + i) + 1, y)


@njit(cache=True, nogil=True)
def _store(F: Any, scratch: Any, place: int, size: int) -> None:
    """The eight sums of a bundle of `size` vectors, now in one, to `rows`."""
    y, turned = lanes.load(F, scratch.points, 2 * place + 1), False
    while size > 1:
        turned, size = not turned, (size + 1) >> 1
    if turned:
        y = p.opposite_y(F, y)
    lanes.store_rows(F, scratch.rows, 0, 2, p.x_to_rows(F, lanes.load(F, scratch.points, 2 * place)))
    lanes.store_rows(F, scratch.rows, 1, 2, p.y_to_rows(F, y))
