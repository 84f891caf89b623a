"""Groups of points laid out for lanes: a bundle is eight groups of about one size, a lane each.

Large groups are cut into pieces first. Pieces are sorted by size, so that the lanes of a bundle hardly differ
in their number of points, and the codes of eight pieces are interleaved: a vector after another.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu.lane_points import MOST_ROUNDS
from kernels.cpu.windows import count_digits, widened
from kernels.meter import holding

MOST_POINTS = 1 << MOST_ROUNDS  # of a piece
NOWHERE = -1
Codes = NDArray[np.uint32]


class Bundles(NamedTuple):
    """What `lay_out` and `sort_by_digits` make."""

    codes: Codes  # (8·vectors or more,): the points of each vector; where there is none, 0
    missing: NDArray[np.uint8]  # (vectors,): bit l set where lane l has no point
    sizes: NDArray[np.int64]  # (bundles,): vectors of each
    targets: NDArray[np.int64]  # (8·bundles,): of each lane's piece, see `_cut`; NOWHERE where there is none
    cut_starts: NDArray[np.int64]  # (cut groups + 1,): numbers of the pieces of each group that was cut
    cut_groups: NDArray[np.int64]  # (cut groups,): their numbers


def lay_out(codes: Codes, starts: NDArray[np.int64], count: int) -> Bundles:
    """The groups codes[starts[g]:starts[g + 1]], g below `count`, without empty ones."""
    pieces, places, bundles = _plan(starts, count, 0)
    _interleave(bundles.codes, codes, pieces, places, np.iinfo(np.int64).max)
    return bundles


def sort_by_digits(
    digits: NDArray[np.uint16], highest: int, codes: Codes, half: int, start: int, stop: int
) -> Bundles:
    """A group for each window and each size, 1 to `half`, of its digits among [start, stop).

    digits: (windows, n), rows of `windows.read_digits`; row number `highest` has no signs. codes: (n,), even
    for point and odd for −point; so are the bundles', with the digit's sign taken in.
    """
    counts = np.zeros(len(digits) * half + 1, np.int32)
    count_digits(digits, highest, half, start, stop, counts)
    starts = np.cumsum(counts, dtype=np.int64)
    with holding(counts, starts):
        pieces, places, bundles = _plan(starts, len(starts) - 1, int(starts[-1]))
    following = np.empty(len(counts) - 1, np.int32)
    _start_groups(pieces, places, bundles.cut_starts, bundles.cut_groups, 8 * len(bundles.missing), following)
    _scatter(digits, highest, codes, half, start, stop, following, 8 * len(bundles.missing), bundles.codes)
    _interleave(bundles.codes, bundles.codes, pieces, places, NOWHERE)
    return bundles


def _plan(starts: NDArray[np.int64], count: int, room: int) -> tuple[Any, Any, Bundles]:
    """The pieces of groups, the place of each one's first code, and bundles without the pieces' codes.

    room: for more codes than the vectors have.
    """
    room_for_pieces = np.empty((count + int(starts[count] - starts[0]) // MOST_POINTS, 3), np.int64)
    cut_starts, cut_groups = np.empty((2, count + 1), np.int64)
    found, cut = _cut(starts, count, room_for_pieces, cut_starts, cut_groups)
    pieces = room_for_pieces[:found]
    sizes, order = np.empty(-(-found // 8), np.int64), np.empty(found, np.int64)
    vectors = _sort(pieces, order, sizes)
    codes, missing = np.empty(8 * vectors + room, np.uint32), np.zeros(vectors, np.uint8)
    targets, places = np.full(8 * len(sizes), NOWHERE, np.int64), np.empty(found, np.int64)
    lists = room_for_pieces, cut_starts, cut_groups, order, sizes, places, targets
    with holding(*lists, codes, missing):
        _place(pieces, order, sizes, places, codes, missing, targets)
    cut_starts, cut_groups = cut_starts[: cut + 1].copy(), cut_groups[:cut].copy()
    return pieces, places, Bundles(codes, missing, sizes, targets, cut_starts, cut_groups)


@njit(cache=True, nogil=True)
def _cut(starts: Any, count: int, pieces: Any, cut_starts: Any, cut_groups: Any) -> Any:
    """Writes start, size and target of each piece; returns their number and that of groups that were cut.

    The target is a whole group's number, otherwise −2 − the piece's number among the pieces of cut groups.
    """
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
def _place(pieces: Any, order: Any, sizes: Any, places: Any, codes: Any, missing: Any, targets: Any) -> None:
    """Gives pieces their lanes, and marks what is missing there."""
    first = 0
    for bundle in range(sizes.shape[0]):
        size = sizes[bundle]
        for lane in range(8):
            length = 0
            if 8 * bundle + lane < order.shape[0]:
                piece = order[8 * bundle + lane]
                length, targets[8 * bundle + lane] = pieces[piece, 1], pieces[piece, 2]
                places[piece] = 8 * first + lane
            for k in range(first + length, first + size):
                codes[8 * k + lane] = 0
                missing[k] |= np.uint8(1 << lane)
        first += size


@njit(cache=True, nogil=True)
def _interleave(to: Any, codes: Any, pieces: Any, places: Any, target: int) -> None:
    """Copies the codes of pieces with targets below `target` to their lanes."""
    for piece in range(pieces.shape[0]):
        if pieces[piece, 2] < target:
            for k in range(pieces[piece, 1]):
                to[places[piece] + 8 * k] = codes[pieces[piece, 0] + k]


@njit(cache=True, nogil=True)
def _start_groups(
    pieces: Any, places: Any, cut_starts: Any, cut_groups: Any, room: int, following: Any
) -> None:
    """following[g] = the place of group g's first code: in its lane, or from `room` on if it is cut."""
    cut = 0
    for piece in range(pieces.shape[0]):
        target = pieces[piece, 2]
        if target >= 0:
            following[target] = places[piece]
            continue
        pieces[piece, 0] = room
        if -2 - target == cut_starts[cut]:
            following[cut_groups[cut]] = room
            cut += 1
        room += pieces[piece, 1]


@njit(cache=True, nogil=True)
def _scatter(
    digits: Any,
    highest: int,
    codes: Any,
    half: int,
    start: int,
    stop: int,
    following: Any,
    room: int,
    to: Any,
) -> None:
    """Copies codes to their groups, in steps of eight below `room`."""
    for window in range(digits.shape[0]):
        signed, own = window != highest, following[window * half : (window + 1) * half]
        for i in range(start, stop):
            digit = widened(digits[window, i], signed)
            if digit != 0:
                group = abs(digit) - 1
                place = own[group]
                to[place] = codes[i] ^ np.uint32(digit < 0)
                own[group] = place + (8 if place < room else 1)
