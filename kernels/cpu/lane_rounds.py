"""A round of additions in lanes: the left and right points of pairs of vectors in a block.

It is a few passes over the pairs: products of the denominators, an inversion, slopes, sums. The products are
made in CHAINS that take turns, as each waits for its last product.

A sum's y is left with the sign of the third point on the line, so that it takes an addition and bounds hardly
grow: each round turns the sign of all its sums, and of points that had no partner. Bounds: `lane_points`.
scratch is a `lane_batch_affine.Scratch`.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import lane_points as p
from kernels.cpu import lanes
from kernels.cpu.lane_inverse import inverse

CHAINS = 4
SETTLED = 256  # in `Scratch.settled`, above a mask of the lanes whose sum is in the right vector


@njit(cache=True, nogil=True)
def add_pairs(F: Any, scratch: Any, count: int, points: Any, codes: Any, ahead: int) -> None:
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
    """slopes = differences of y over those of x; fetches points as `add_pairs` says."""
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
