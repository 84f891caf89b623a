"""The sums of `kernels.cpu.batch_affine` in 64-bit limbs, one addition after the other.

A block of groups is gathered into scratch memory that stays in the cache, and all rounds take place there,
each as three passes over arrays.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu import field as f
from kernels.cpu.formulas import Row, formula
from kernels.encoding import Limbs
from kernels.fields import Field, QuadraticField

BLOCK = 4096  # points; larger blocks share an inversion among more, but leave the second-level cache
PREFETCH_DISTANCE = 16  # points


class Scratch(NamedTuple):
    """What `sum_groups` writes on; one a thread."""

    points: Limbs  # (2·BLOCK + 2, words): a block's points, and one that takes what nobody wants
    denominators: Limbs  # (BLOCK / 2, words), as the next two
    numerators: Limbs
    prefixes: Limbs
    left: NDArray[np.int32]  # (BLOCK / 2,): where a round's summands are; the sum replaces the left one
    right: NDArray[np.int32]
    groups: NDArray[np.int32]  # (BLOCK, 3): a group's number, its first point's place in the block, its size


def element_words(field: Field | QuadraticField) -> int:
    """64-bit words of one element."""
    return field.limbs if isinstance(field, Field) else 2 * field.base.limbs


def new_scratch(field: Field | QuadraticField) -> Scratch:
    words, pairs = element_words(field), BLOCK // 2
    points = np.zeros((2 * BLOCK + 2, words), np.uint64)
    denominators, numerators, prefixes = (np.empty((pairs, words), np.uint64) for _ in range(3))
    left, right = (np.empty(pairs, np.int32) for _ in range(2))
    groups = np.empty((BLOCK, 3), np.int32)
    return Scratch(points, denominators, numerators, prefixes, left, right, groups)


@njit(cache=True, nogil=True)
def copy_point(F: Any, to: Any, i: Any, source: Any, j: Any) -> None:
    """Point i of `to` = point j of `source`."""
    f.store(F, to, 2 * i, f.load(F, source, 2 * j))
    f.store(F, to, 2 * i + 1, f.load(F, source, 2 * j + 1))


@njit(cache=True, nogil=True)
def is_infinity(F: Any, points: Any, i: Any) -> Any:
    return f.is_zero(F, f.load(F, points, 2 * i)) and f.is_zero(F, f.load(F, points, 2 * i + 1))


@njit(cache=True, nogil=True)
def _gather(F: Any, to: Any, first: int, points: Any, codes: Any, start: int, stop: int) -> None:
    """Points `codes`[start:stop] to `first` and on; a code is twice the point's number, plus 1 for −point."""
    for i in range(start, stop):
        ahead = 2 * np.int64(codes[min(i + PREFETCH_DISTANCE, codes.size - 1)] >> 1)
        f.prefetch(F, points, ahead)
        f.prefetch(F, points, ahead + 1)
        code = np.int64(codes[i])
        y = f.load(F, points, (code >> 1) * 2 + 1)
        if code & 1:
            y = f.neg(F, y)
        f.store(F, to, 2 * (first + i - start), f.load(F, points, (code >> 1) * 2))
        f.store(F, to, 2 * (first + i - start) + 1, y)


@formula
def _settle(denominator: Row, numerator: Row, a: Row, b: Row) -> None:
    """A pair that has equal x or a zero among them. The denominator is zero after it if a is the sum now."""
    x, y, other_x, other_y = a[0], a[1], b[0], b[1]
    zero = x - x
    with a.when(x.is_zero(), y.is_zero()):
        a[0], a[1], denominator[0] = other_x, other_y, zero
    with a.when(other_x.is_zero(), other_y.is_zero()):
        denominator[0] = zero
    with a.when(x == other_x, y == -other_y):
        a[0] = a[1] = denominator[0] = zero
    with a.when(x == other_x):  # the tangent's slope is a quotient as well
        xx = x.square()
        denominator[0], numerator[0] = y.double(), xx.double() + xx


@njit(cache=True, nogil=True)
def _differences(F: Any, scratch: Any, count: int) -> None:
    """Numerators and denominators of the slopes of `count` pairs' lines."""
    points, denominators, numerators = scratch.points, scratch.denominators, scratch.numerators
    for j in range(count):
        left, right = 2 * np.int64(scratch.left[j]), 2 * np.int64(scratch.right[j])
        x, other_x = f.load(F, points, left), f.load(F, points, right)
        denominator = f.sub(F, other_x, x)
        f.store(F, denominators, j, denominator)
        f.store(F, numerators, j, f.sub(F, f.load(F, points, right + 1), f.load(F, points, left + 1)))
        if f.is_zero(F, denominator) | f.is_zero(F, x) | f.is_zero(F, other_x):
            _settle(F, denominators, j, numerators, j, points, left, points, right)
            if f.is_zero(F, f.load(F, denominators, j)):
                scratch.left[j] = scratch.right[j] = BLOCK
                f.store(F, denominators, j, f.one(F))


@njit(cache=True, nogil=True)
def _slopes(F: Any, scratch: Any, count: int) -> None:
    """numerators /= denominators, which must not be zero."""
    product = f.one(F)
    for j in range(count):
        f.store(F, scratch.prefixes, j, product)
        product = f.mul(F, product, f.load(F, scratch.denominators, j))
    inverse = f.inverse(F, product)
    for k in range(count):
        j = count - 1 - k
        own = f.mul(F, inverse, f.load(F, scratch.prefixes, j))
        inverse = f.mul(F, inverse, f.load(F, scratch.denominators, j))
        f.store(F, scratch.numerators, j, f.mul(F, own, f.load(F, scratch.numerators, j)))


@formula
def _third_point(slopes: Row, a: Row, b: Row) -> None:
    """a = the mirrored third point on the line through a and b."""
    slope, x = slopes[0], a[0]
    total = slope.square() - x - b[0]
    a[0], a[1] = total, slope * (x - total) - a[1]


@njit(cache=True, nogil=True)
def pair_up(scratch: Any, groups: int) -> int:
    """Pairs the first half of every group with its second, and halves the sizes; the number of pairs."""
    count = 0
    for g in range(groups):
        first, size = scratch.groups[g, 1], scratch.groups[g, 2]
        rest = size - (size >> 1)  # of an odd number the middle one waits
        for i in range(size >> 1):
            scratch.left[count] = first + i
            scratch.right[count] = first + rest + i
            count += 1
        scratch.groups[g, 2] = rest
    return count


@njit(cache=True, nogil=True)
def sum_groups(
    F: Any, sums: Any, first: int, points: Any, codes: Any, starts: Any, count: int, scratch: Any
) -> None:
    """sums[first + g] = Σ of the points that codes[starts[g]:starts[g + 1]] name, for each g below `count`.

    sums: affine points; those of empty groups stay as they are. points: affine. codes: uint32, see `_gather`.
    starts: (count + 1,) int64. A group larger than a block is summed in several, from its sum so far.
    """
    group, position = 0, starts[0]
    while group < count:
        used = groups = 0
        while group < count and used < BLOCK - 1:
            if position < starts[group + 1]:
                scratch.groups[groups, 0], scratch.groups[groups, 1] = group, used
                if position > starts[group]:
                    copy_point(F, scratch.points, used, sums, first + group)
                    used += 1
                stop = min(starts[group + 1], position + BLOCK - used)
                _gather(F, scratch.points, used, points, codes, position, stop)
                used, position = used + stop - position, stop
                scratch.groups[groups, 2] = used - scratch.groups[groups, 1]
                groups += 1
            if position == starts[group + 1]:
                group += 1
        pairs = pair_up(scratch, groups)
        while pairs:
            _differences(F, scratch, pairs)
            _slopes(F, scratch, pairs)
            for j in range(pairs):
                left, right = 2 * np.int64(scratch.left[j]), 2 * np.int64(scratch.right[j])
                _third_point(F, scratch.numerators, j, scratch.points, left, scratch.points, right)
            pairs = pair_up(scratch, groups)
        for g in range(groups):
            place = np.int64(scratch.groups[g, 1])
            copy_point(F, sums, first + np.int64(scratch.groups[g, 0]), scratch.points, place)
