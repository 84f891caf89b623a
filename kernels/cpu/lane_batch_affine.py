"""The sums of `kernels.cpu.batch_affine` on eight groups at once.

A lane takes a group (`lane_bundles`), so that points are transposed once, when they are loaded; the rounds
after that read and write whole vectors. A block of bundles stays in the second-level cache. Each of its
rounds is a few passes over pairs of vectors: products of the denominators, one inversion, slopes, sums. The
products are made in CHAINS that take turns, as each waits for its last product.

A sum's y is left with the sign of the third point on the line, so that it takes an addition and bounds hardly
grow: each round turns the sign of all its sums, and of points that had no partner. Bounds: `lane_points`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu import lane_points as p
from kernels.cpu import lanes
from kernels.cpu.batch_affine64 import copy_point, pair_up
from kernels.cpu.curve import read_only_bytes
from kernels.cpu.lane_bundles import MOST_POINTS, Bundles, lay_out
from kernels.cpu.lane_inverse import inverse
from kernels.cpu.lanes import LANES, LaneField
from kernels.encoding import Limbs

BLOCK_BYTES = 1 << 20  # of points; a quarter more is needed for the slopes
PREFETCH_DISTANCE = 4  # vectors
CHAINS = 4
SETTLED = 256  # the bit of `Scratch.settled` above a mask


class Scratch(NamedTuple):
    """What `sum_groups` writes on; one a thread. A block holds v vectors of points."""

    points: Limbs  # lanes, (2·v, …): x and y
    slopes: Limbs  # lanes, (v / 2, …): of a round's pairs; until then products of the denominators before
    chains: Limbs  # lanes, (2·CHAINS, …): each chain's product or its inverse; products of those before
    rows: Limbs  # (16, words): eight points
    left: NDArray[np.int32]  # (v / 2,): vectors of a round's summands; the sum replaces the left one
    right: NDArray[np.int32]
    settled: NDArray[np.uint16]  # (v / 2,): SETTLED and a mask of the lanes whose sum is in the right vector
    groups: NDArray[np.int32]  # (v, 3): a bundle's number, its first vector in the block, its size


def new_scratch(F: LaneField) -> Scratch:
    vectors = max(MOST_POINTS, BLOCK_BYTES // (2 * 8 * LANES * F.vectors))
    pairs = vectors // 2
    points, slopes, chains = (lanes.empty(F, groups) for groups in (2 * vectors, pairs, 2 * CHAINS))
    left, right = (np.empty(pairs, np.int32) for _ in range(2))
    rows, settled = np.empty((2 * LANES, F.words), np.uint64), np.empty(pairs, np.uint16)
    groups = np.empty((vectors, 3), np.int32)
    return Scratch(points, slopes, chains, rows, left, right, settled, groups)


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
    bundle = at = 0
    while bundle < sizes.shape[0]:
        groups = used = 0
        while bundle < sizes.shape[0] and used + sizes[bundle] <= 2 * scratch.left.shape[0]:
            scratch.groups[groups, 0], scratch.groups[groups, 1] = bundle, used
            scratch.groups[groups, 2] = sizes[bundle]
            used += sizes[bundle]
            groups += 1
            bundle += 1
        _load(F, scratch, points, codes, missing, at, used)
        at += used
        _turn_middles(F, scratch, groups)
        pairs = pair_up(scratch, groups)
        while pairs:
            _add_pairs(F, scratch, pairs)
            _turn_middles(F, scratch, groups)
            pairs = pair_up(scratch, groups)
        for group in range(groups):
            own = 8 * scratch.groups[group, 0]
            _store(F, scratch, group, sizes[scratch.groups[group, 0]])
            for lane in range(8):
                piece = pieces[own + lane]
                if piece >= 0:
                    copy_point(F.field, sums, targets[piece], scratch.rows, lane)
                elif piece < -1:
                    copy_point(F.field, partials, -2 - piece, scratch.rows, lane)


@njit(cache=True, nogil=True)
def _load(F: Any, scratch: Any, points: Any, codes: Any, missing: Any, at: int, count: int) -> None:
    """Vectors [at, at + count) of `codes` to the start of the block."""
    for i in range(count):
        p.prefetch_points(F, points, codes, 8 * min(at + i + PREFETCH_DISTANCE, missing.shape[0] - 1))
        x, y = p.load_points(F, points, codes, 8 * (at + i))
        if missing[at + i]:
            x = lanes.select(F, missing[at + i], lanes.zero(F), x)
            y = lanes.select(F, missing[at + i], lanes.zero(F), y)
        lanes.store(F, scratch.points, 2 * i, x)
        lanes.store(F, scratch.points, 2 * i + 1, y)


@njit(cache=True, nogil=True)
def _store(F: Any, scratch: Any, group: int, size: int) -> None:
    """The eight sums of a bundle of `size` vectors to `rows`."""
    at = 2 * np.int64(scratch.groups[group, 1])
    y, turned = lanes.load(F, scratch.points, at + 1), False
    while size > 1:
        turned, size = not turned, (size + 1) >> 1
    if turned:
        y = p.opposite_y(F, y)
    lanes.store_rows(F, scratch.rows, 0, 2, p.x_to_rows(F, lanes.load(F, scratch.points, at)))
    lanes.store_rows(F, scratch.rows, 1, 2, p.y_to_rows(F, y))


@njit(cache=True, nogil=True)
def _turn_middles(F: Any, scratch: Any, groups: int) -> None:
    """Turns the signs of what `pair_up` will leave without a partner."""
    for group in range(groups):
        size = scratch.groups[group, 2]
        if size > 1 and size & 1:
            at = 2 * np.int64(scratch.groups[group, 1] + (size >> 1)) + 1
            lanes.store(F, scratch.points, at, p.opposite_y(F, lanes.load(F, scratch.points, at)))


@njit(cache=True, nogil=True)
def _add_pairs(F: Any, scratch: Any, count: int) -> None:
    """A round's additions. Points that no line joins show: the product of all differences of x is zero."""
    scratch.settled[:count] = 0
    _multiply_denominators(F, scratch, count)
    if not _invert_chains(F, scratch):
        for j in range(count):
            if scratch.settled[j] == 0:
                _settle(F, scratch, j)
        _multiply_denominators(F, scratch, count)
        _invert_chains(F, scratch)
    _divide(F, scratch, count)
    _add_along_slopes(F, scratch, count)


@njit(cache=True, nogil=True)
def _multiply_denominators(F: Any, scratch: Any, count: int) -> None:
    """Settles pairs with x = 0 among them, which may be infinity."""
    for chain in range(CHAINS):
        lanes.store(F, scratch.chains, chain, lanes.one(F))
    for j in range(count):
        left, right = 2 * np.int64(scratch.left[j]), 2 * np.int64(scratch.right[j])
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
def _divide(F: Any, scratch: Any, count: int) -> None:
    """slopes = differences of y over those of x."""
    for k in range(count):
        j = count - 1 - k
        left, right = 2 * np.int64(scratch.left[j]), 2 * np.int64(scratch.right[j])
        x, other_x = lanes.load(F, scratch.points, left), lanes.load(F, scratch.points, right)
        inverted = lanes.load(F, scratch.chains, j & (CHAINS - 1))
        own = lanes.mul(F, inverted, lanes.load(F, scratch.slopes, j))
        inverted = lanes.mul(F, inverted, p.x_difference(F, other_x, x))
        lanes.store(F, scratch.chains, j & (CHAINS - 1), inverted)
        y, other_y = lanes.load(F, scratch.points, left + 1), lanes.load(F, scratch.points, right + 1)
        lanes.store(F, scratch.slopes, j, lanes.mul(F, own, p.y_difference(F, other_y, y)))


@njit(cache=True, nogil=True)
def _add_along_slopes(F: Any, scratch: Any, count: int) -> None:
    """Left points = third points on the lines through both, or what is settled."""
    for j in range(count):
        left, right = 2 * np.int64(scratch.left[j]), 2 * np.int64(scratch.right[j])
        slope, x = lanes.load(F, scratch.slopes, j), lanes.load(F, scratch.points, left)
        total = p.third_x(F, lanes.square(F, slope), x, lanes.load(F, scratch.points, right))
        product = lanes.mul(F, slope, p.x_difference(F, total, x))
        y = p.third_y(F, product, lanes.load(F, scratch.points, left + 1))
        settled = np.uint8(scratch.settled[j])
        if settled:
            total = lanes.select(F, settled, lanes.load(F, scratch.points, right), total)
            y = lanes.select(F, settled, lanes.load(F, scratch.points, right + 1), y)
        lanes.store(F, scratch.points, left, total)
        lanes.store(F, scratch.points, left + 1, y)


@njit(cache=True, nogil=True)
def _settle(F: Any, scratch: Any, j: int) -> None:
    """Makes lines that join points with two different x of all eight pairs.

    With infinity among them, and for opposite points, the sum is known: the right point becomes minus the
    sum, to be taken as it is, and the left one any other. Equal points are replaced by two on their tangent
    with the same sum of x: x ∓ 2·y and y ∓ 3·x².
    """
    left, right = 2 * np.int64(scratch.left[j]), 2 * np.int64(scratch.right[j])
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
