"""Groups of points laid out for lanes: a bundle is eight groups of about one size, a lane each.

Large groups are cut into pieces first. Pieces are sorted by size, so that the lanes of a bundle hardly differ
in their number of points, and the codes of eight pieces are interleaved: a vector after another.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

MOST_POINTS = 128  # of a piece, 2^MOST_ROUNDS of `lane_points`
NOWHERE = -1


class Bundles(NamedTuple):
    """What `lay_out` makes."""

    codes: NDArray[np.uint32]  # (8·vectors,): the points of each vector; where there is none, any code
    missing: NDArray[np.uint8]  # (vectors,): bit l set where lane l has no point
    sizes: NDArray[np.int64]  # (bundles,): vectors of each
    targets: NDArray[np.int64]  # (8·bundles,): each lane's target, see `lay_out`
    cut_starts: NDArray[np.int64]  # (cut groups + 1,): numbers of the pieces of each group that was cut
    cut_groups: NDArray[np.int64]  # (cut groups,): their numbers


def lay_out(codes: NDArray[np.uint32], starts: NDArray[np.int64], count: int) -> Bundles:
    """The groups codes[starts[g]:starts[g + 1]], g below `count`, without empty ones.

    The target of a piece that is a whole group is the group's number, of other pieces −2 − their number among
    those, and NOWHERE for a lane without a piece.
    """
    pieces = np.empty((count + (int(starts[count]) - int(starts[0])) // MOST_POINTS, 3), np.int64)
    cut_starts, cut_groups = np.empty((2, count + 1), np.int64)
    found, cut = _cut(starts, count, pieces, cut_starts, cut_groups)
    sizes, targets = np.empty(-(-found // 8), np.int64), np.full(-(-found // 8) * 8, NOWHERE, np.int64)
    order = np.empty(found, np.int64)
    vectors = _sort(pieces[:found], order, sizes)
    out, missing = np.empty(8 * vectors, np.uint32), np.empty(vectors, np.uint8)
    _interleave(codes, pieces, order, sizes, out, missing, targets)
    return Bundles(out, missing, sizes, targets, cut_starts[: cut + 1], cut_groups[:cut])


@njit(cache=True, nogil=True)
def _cut(starts: Any, count: int, pieces: Any, cut_starts: Any, cut_groups: Any) -> Any:
    """Writes first code, size and target of each piece; their number and that of cut groups."""
    found = cut = partial = 0
    cut_starts[0] = 0
    for group in range(count):
        position, stop = starts[group], starts[group + 1]
        whole = stop - position <= MOST_POINTS
        while position < stop:
            pieces[found, 0], pieces[found, 1] = position, min(MOST_POINTS, stop - position)
            pieces[found, 2] = group if whole else -2 - partial
            partial += 0 if whole else 1
            position += MOST_POINTS
            found += 1
        if not whole:
            cut_groups[cut] = group
            cut += 1
            cut_starts[cut] = partial
    return found, cut


@njit(cache=True, nogil=True)
def _sort(pieces: Any, order: Any, sizes: Any) -> int:
    """Sorts pieces by size, the largest first; sizes of bundles, and how many vectors they have together."""
    ends = np.zeros(MOST_POINTS + 2, np.int64)
    for i in range(pieces.shape[0]):
        ends[pieces[i, 1]] += 1
    for size in range(MOST_POINTS, -1, -1):
        ends[size] += ends[size + 1]
    for k in range(pieces.shape[0]):
        i = pieces.shape[0] - 1 - k
        ends[pieces[i, 1]] -= 1
        order[ends[pieces[i, 1]]] = i
    vectors = 0
    for bundle in range(sizes.shape[0]):
        sizes[bundle] = pieces[order[8 * bundle], 1]
        vectors += sizes[bundle]
    return vectors


@njit(cache=True, nogil=True)
def _interleave(
    codes: Any, pieces: Any, order: Any, sizes: Any, out: Any, missing: Any, targets: Any
) -> None:
    first = 0
    for bundle in range(sizes.shape[0]):
        size = sizes[bundle]
        missing[first : first + size] = 0
        for lane in range(8):
            position = length = 0
            if 8 * bundle + lane < order.shape[0]:
                piece = order[8 * bundle + lane]
                position, length = pieces[piece, 0], pieces[piece, 1]
                targets[8 * bundle + lane] = pieces[piece, 2]
            for k in range(length):
                out[8 * (first + k) + lane] = codes[position + k]
            for k in range(length, size):
                out[8 * (first + k) + lane] = codes[0]
                missing[first + k] |= np.uint8(1 << lane)
        first += size
