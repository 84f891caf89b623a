"""The sums of `kernels.cpu.batch_affine` on eight groups at once.

A lane takes a group (`lane_bundles`), so that points are transposed once, when they are loaded; the rounds
after that read and write whole vectors, in a block that stays in the second-level cache. A round halves every
bundle there, and its sums move together to make room for new bundles, so each round has about as many
additions to share its inversion, whatever the size of groups. It is a few passes over pairs of vectors:
products of the denominators, the inversion, slopes, sums. The products are made in CHAINS that take turns, as
each waits for its last product. Meanwhile the points of the next bundles are fetched.

A sum's y is left with the sign of the third point on the line, so that it takes an addition and bounds hardly
grow: each round turns the sign of all its sums, and of points that had no partner. Bounds: `lane_points`.
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
from kernels.cpu.lane_inverse import inverse
from kernels.cpu.lanes import LANES, LaneField
from kernels.encoding import Limbs

BLOCK_BYTES = 3 << 18  # of points; a quarter more is needed for the slopes
PREFETCH_DISTANCE = 4  # vectors
CHAINS = 4
SETTLED = 256  # the bit of `Scratch.settled` above a mask


class Scratch(NamedTuple):
    """What `sum_groups` writes on; one a thread. A block holds v vectors of points."""

    points: Limbs  # lanes, (2·v, …): x and y
    slopes: Limbs  # lanes, (v / 2, …): of a round's pairs; until then products of the denominators before
    chains: Limbs  # lanes, (2·CHAINS, …): each chain's product or its inverse; products of those before
    rows: Limbs  # (16, words): eight points
    pairs: NDArray[np.int32]  # (v / 2, 3): vectors of a round's summands and of their sum
    alone: NDArray[np.uint8]  # (v / 2,): whether the vector after the left one has no partner
    settled: NDArray[np.uint16]  # (v / 2,): SETTLED and a mask of the lanes whose sum is in the right vector
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
            _add_pairs(F, scratch, pairs, points, codes, 8 * at)
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


@njit(cache=True, nogil=True)
def _add_pairs(F: Any, scratch: Any, count: int, points: Any, codes: Any, ahead: int) -> None:
    """A round's additions. Points that no line joins show: the product of all differences of x is zero.

    Meanwhile fetches as many vectors of points, of the codes from `ahead` on.
    """
    scratch.settled[:count] = 0
    _multiply_denominators(F, scratch, count)
    if not _invert_chains(F, scratch):
        for j in range(count):
            if scratch.settled[j] == 0:
                _settle(F, scratch, j)
        _multiply_denominators(F, scratch, count)
        _invert_chains(F, scratch)
    _divide(F, scratch, count, points, codes, ahead)
    _add_along_slopes(F, scratch, count, points, codes, ahead)


@njit(cache=True, nogil=True)
def _multiply_denominators(F: Any, scratch: Any, count: int) -> None:
    """Settles pairs with x = 0 among them, which may be infinity."""
    lanes.align_frame(F)
    for chain in range(CHAINS):
        lanes.store(F, scratch.chains, chain, lanes.one(F))
    for j in range(count):
        left, right = 2 * np.int64(scratch.pairs[j, 0]), 2 * np.int64(scratch.pairs[j, 1])
        x, other_x = lanes.load(F, scratch.points, left), lanes.load(F, scratch.points, right)
        if scratch.settled[j] == 0 and p.zero_limbs(F, x) | p.zero_limbs(F, other_x):
            _settle(F, scratch, j)
            x, other_x = lanes.load(F, scratch.points, left), lanes.load(F, scratch.points, right)
        product = lanes.load(F, scratch.chains, j & (CHAINS - 1))
        lanes.store(F, scratch.slopes, j, product)
        product = lanes.mul(F, product, p.x_difference(F, other_x, x))
        lanes.store(F, scratch.chains, j & (CHAINS - 1), product)


@njit(cache=True, nogil=True)
def _invert_chains(F: Any, scratch: Any) -> bool:
    """Replaces the chains' products by their inverses; False, and nothing done, if there is a zero."""
    product = lanes.one(F)
    for chain in range(CHAINS):
        lanes.store(F, scratch.chains, CHAINS + chain, product)
        product = lanes.mul(F, product, lanes.load(F, scratch.chains, chain))
    if lanes.is_zero(F, product):
        return False
    inverted = inverse(F, product, scratch.rows[:8])
    for k in range(CHAINS):
        chain = CHAINS - 1 - k
        own = lanes.mul(F, inverted, lanes.load(F, scratch.chains, CHAINS + chain))
        inverted = lanes.mul(F, inverted, lanes.load(F, scratch.chains, chain))
        lanes.store(F, scratch.chains, chain, own)
    return True


@njit(cache=True, nogil=True)
def _divide(F: Any, scratch: Any, count: int, points: Any, codes: Any, ahead: int) -> None:
    """slopes = differences of y over those of x; fetches points as `_add_pairs` says."""
    lanes.align_frame(F)
    for k in range(count):
        j = count - 1 - k
        if ahead + 8 * k + 8 <= codes.shape[0]:  # the other half of these is up to `_add_along_slopes`
            p.prefetch_points(F, points, codes, ahead + 8 * k)
        left, right = 2 * np.int64(scratch.pairs[j, 0]), 2 * np.int64(scratch.pairs[j, 1])
        x, other_x = lanes.load(F, scratch.points, left), lanes.load(F, scratch.points, right)
        inverted = lanes.load(F, scratch.chains, j & (CHAINS - 1))
        own = lanes.mul(F, inverted, lanes.load(F, scratch.slopes, j))
        inverted = lanes.mul(F, inverted, p.x_difference(F, other_x, x))
        lanes.store(F, scratch.chains, j & (CHAINS - 1), inverted)
        y, other_y = lanes.load(F, scratch.points, left + 1), lanes.load(F, scratch.points, right + 1)
        lanes.store(F, scratch.slopes, j, lanes.mul(F, own, p.y_difference(F, other_y, y)))


@njit(cache=True, nogil=True)
def _add_along_slopes(F: Any, scratch: Any, count: int, points: Any, codes: Any, ahead: int) -> None:
    """Sums = third points on the lines through both, or what is settled; moves what has no partner."""
    lanes.align_frame(F)
    for j in range(count):
        if ahead + 8 * j + 8 <= codes.shape[0]:
            p.prefetch_points(F, points, codes, ahead + 8 * j + 4)
        left, right = 2 * np.int64(scratch.pairs[j, 0]), 2 * np.int64(scratch.pairs[j, 1])
        to = 2 * np.int64(scratch.pairs[j, 2])
        slope, x = lanes.load(F, scratch.slopes, j), lanes.load(F, scratch.points, left)
        total = p.third_x(F, lanes.square(F, slope), x, lanes.load(F, scratch.points, right))
        product = lanes.mul(F, slope, p.x_difference(F, total, x))
        y = p.third_y(F, product, lanes.load(F, scratch.points, left + 1))
        settled = np.uint8(scratch.settled[j])
        if settled:
            total = lanes.select(F, settled, lanes.load(F, scratch.points, right), total)
            y = lanes.select(F, settled, lanes.load(F, scratch.points, right + 1), y)
        lanes.store(F, scratch.points, to, total)
        lanes.store(F, scratch.points, to + 1, y)
        if scratch.alone[j]:
            y = p.opposite_y(F, lanes.load(F, scratch.points, left + 3))
            lanes.store(F, scratch.points, to + 2, lanes.load(F, scratch.points, left + 2))
            lanes.store(F, scratch.points, to + 3, y)


@njit(cache=True, nogil=True)
def _settle(F: Any, scratch: Any, j: int) -> None:
    """Makes lines that join points with two different x of all eight pairs.

    With infinity among them, and for opposite points, the sum is known: the right point becomes minus the
    sum, to be taken as it is, and the left one any other. Equal points are replaced by two on their tangent
    with the same sum of x: x ∓ 2·y and y ∓ 3·x².
    """
    left, right = 2 * np.int64(scratch.pairs[j, 0]), 2 * np.int64(scratch.pairs[j, 1])
    x, y = lanes.load(F, scratch.points, left), lanes.load(F, scratch.points, left + 1)
    other_x, other_y = lanes.load(F, scratch.points, right), lanes.load(F, scratch.points, right + 1)
    infinite = np.uint8(lanes.is_zero(F, x) & lanes.is_zero(F, y))
    other_infinite = np.uint8(lanes.is_zero(F, other_x) & lanes.is_zero(F, other_y))
    same_x = np.uint8(lanes.is_zero(F, p.x_difference(F, other_x, x)) & ~(infinite | other_infinite))
    opposite = np.uint8(same_x & lanes.is_zero(F, lanes.add(F, y, other_y)))
    equal = np.uint8(same_x & ~opposite)
    settled = np.uint8(infinite | other_infinite | opposite)
    if settled:
        zero = lanes.zero(F)
        sum_x = lanes.select(F, opposite, zero, lanes.select(F, infinite, other_x, x))
        sum_y = lanes.select(F, opposite, zero, lanes.select(F, infinite, other_y, y))
        sum_x = lanes.reduce(F, sum_x)
        apart = lanes.reduce(F, lanes.add(F, sum_x, lanes.one(F)))
        x, other_x = lanes.select(F, settled, apart, x), lanes.select(F, settled, sum_x, other_x)
        other_y = lanes.select(F, settled, p.opposite_y(F, sum_y), other_y)
    if equal:
        xx = lanes.square(F, x)
        rise = lanes.reduce(F, lanes.add(F, lanes.double(F, xx), xx))
        run = lanes.reduce(F, lanes.double(F, y))
        other_x = lanes.select(F, equal, lanes.reduce(F, lanes.add(F, x, run)), other_x)
        other_y = lanes.select(F, equal, lanes.reduce(F, lanes.add(F, y, rise)), other_y)
        x = lanes.select(F, equal, lanes.reduce(F, p.x_difference(F, x, run)), x)
        y = lanes.select(F, equal, lanes.reduce(F, p.y_difference(F, y, rise)), y)
    lanes.store(F, scratch.points, left, x)
    lanes.store(F, scratch.points, left + 1, y)
    lanes.store(F, scratch.points, right, other_x)
    lanes.store(F, scratch.points, right + 1, other_y)
    scratch.settled[j] = SETTLED + settled
