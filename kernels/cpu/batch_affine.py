"""Sums of many groups of affine points, by additions that share their inversions.

An affine addition needs the inverse of x₂ − x₁. Many at once need one inversion and three products each
(P. Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", 1987), so that an addition
takes 5 products and a square: 1 for the prefix product, 2 for the inverse, 1 for the slope and 1 for y; XYZZ
coordinates take 8 and 2. The additions of a round must not depend on each other: every group's points are
added in pairs, then the sums in pairs, until one is left.

Eight groups at once where the processor can (`lane_batch_affine`), else in 64-bit limbs (`batch_affine64`).
Points lie as x, y; all zeros is infinity.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.cpu import batch_affine64, lane_batch_affine, lane_bundles
from kernels.cpu.batch_affine64 import element_words
from kernels.cpu.lanes import lanes_of
from kernels.cpu.windows import count_digits, sort_by_digits
from kernels.encoding import Limbs
from kernels.fields import Field, QuadraticField
from kernels.meter import holding

Scratch = batch_affine64.Scratch | lane_batch_affine.Scratch
"""What `sum_groups` writes on; one a thread."""


def new_scratch(F: Field | QuadraticField) -> Scratch:
    lanes = lanes_of(F)
    return batch_affine64.new_scratch(F) if lanes is None else lane_batch_affine.new_scratch(lanes)


def sum_groups(
    F: Field | QuadraticField,
    sums: Limbs,
    first: int,
    points: Any,
    codes: Any,
    starts: Any,
    count: int,
    scratch: Scratch,
) -> None:
    """sums[first + g] = Σ of the points that codes[starts[g]:starts[g + 1]] name, for each g below `count`.

    sums: affine points (2·n, words); those of empty groups stay as they are. points: bytes of affine points.
    codes: uint32, twice a point's number, plus 1 for −point. starts: (count + 1,) int64.
    """
    lanes = lanes_of(F)
    if lanes is None:
        batch_affine64.sum_groups(F, sums, first, points, codes, starts, count, scratch)
    else:
        assert isinstance(scratch, lane_batch_affine.Scratch)
        lane_batch_affine.sum_groups(lanes, sums, first, points, codes, starts, count, scratch)


def sum_by_digits(
    F: Field | QuadraticField,
    points: Any,
    codes: NDArray[np.uint32],
    digits: NDArray[np.uint16],
    highest: int,
    half: int,
    span: tuple[int, int],
    scratch: Scratch,
) -> Limbs:
    """Σ ±point of each window and each size of its digits, 1 to `half`: affine, (2·windows·half, words).

    points, codes: as for `sum_groups`, a code for each column of digits. digits: rows of
    `windows.read_digits`, of which columns [start, stop) = span count; row number `highest` has no signs.
    """
    lanes = lanes_of(F)
    groups = len(digits) * half
    sums: Limbs = np.zeros((2 * groups, element_words(F)), np.uint64)
    if lanes is not None:
        assert isinstance(scratch, lane_batch_affine.Scratch)
        with holding(sums):
            bundles = lane_bundles.sort_by_digits(digits, highest, codes, half, *span)
            lane_batch_affine.sum_bundles(lanes, sums, np.arange(groups), points, bundles, scratch)
    else:
        counts = np.zeros(groups + 1, np.int32)
        count_digits(digits, highest, half, *span, counts)
        starts = np.cumsum(counts, dtype=np.int64)
        sorted_codes = np.empty(starts[-1] + 1, np.uint32)
        with holding(sums, counts, starts, sorted_codes):
            sort_by_digits(digits, highest, codes, *span, starts, sorted_codes)
            batch_affine64.sum_groups(F, sums, 0, points, sorted_codes, starts, groups, scratch)
    return sums
