"""Points of a bucket added two and two, in affine coordinates with a shared inversion.

A round turns the c points of each bucket into ⌈c/2⌉. A thread takes a batch of pairs: it multiplies the
differences of their x up, inverts the product once and walks back (P. Montgomery's trick: "Speeding the
Pollard and elliptic curve methods of factorization", 1987, 10.3.1). So a pair costs 5 products and a square,
about three fifths of an addition in XYZZ coordinates, and a share of the inversion.
"""

from typing import Any

from numba import cuda, int64, uint32

from kernels.cuda import field as f
from kernels.cuda.inversion import inverse
from kernels.cuda.launch import device, kernel, launch
from kernels.cuda.memory import Workspace, element_words
from kernels.cuda.radix import last_at_or_below
from kernels.cuda.scan import exclusive_scan

BATCH = 64  # pairs of a thread: an inversion is as long as 45 products


@kernel
def _halve(starts: Any, next_counts: Any) -> None:
    """The points of each bucket after a round, and a zero."""
    b = cuda.grid(1)
    last = starts.shape[0] - 1
    if b < last:
        next_counts[b] = (starts[b + 1] - starts[b] + uint32(1)) >> uint32(1)
    elif b == last:
        next_counts[b] = 0


@kernel
def _list_pairs(starts: Any, next_starts: Any, pairs: Any) -> None:
    """pairs[j] = twice the number of the first point of pair j, plus 1 where it has no second."""
    i = cuda.grid(1)
    last = starts.shape[0] - 1
    if i >= starts[last]:
        return
    bucket = last_at_or_below(starts, i, 0)
    start = int64(starts[bucket])
    if (i - start) & 1 == 0:
        j = int64(next_starts[bucket]) + ((i - start) >> 1)
        pairs[j] = uint32(2 * i + (1 if i + 1 == int64(starts[bucket + 1]) else 0))


@device
def load_entry(F: Any, points: Any, entry: int) -> Any:
    """The affine point of an entry: number entry/2, negated where the entry is odd."""
    x, y = f.load(F, points, entry & ~1), f.load(F, points, entry | 1)
    return x, f.select(F, entry & 1 != 0, f.sub(F, f.zero(F), y), y)


@device
def _load_pair(F: Any, points: Any, entries: Any, has_entries: bool, pair: int) -> Any:
    """x and y of the first and of the second, which is infinity where there is none."""
    i = pair >> 1
    x1, y1 = load_entry(F, points, int64(entries[i]) if has_entries else 2 * i)
    if pair & 1 != 0:
        return x1, y1, f.zero(F), f.zero(F)
    x2, y2 = load_entry(F, points, int64(entries[i + 1]) if has_entries else 2 * i + 2)
    return x1, y1, x2, y2


@device
def _is_infinity(F: Any, x: Any, y: Any) -> bool:
    return f.is_zero(F, x) and f.is_zero(F, y)


@device
def _slope(F: Any, x1: Any, y1: Any, x2: Any, y2: Any) -> Any:
    """Numerator and denominator of the slope through both points; 0 and 1 where there is none."""
    difference = f.sub(F, x2, x1)
    if f.is_zero(F, difference):
        if _is_infinity(F, x1, y1) or not f.is_zero(F, f.sub(F, y2, y1)) or f.is_zero(F, y1):
            return f.zero(F), f.one(F)
        square = f.square(F, x1)
        return f.add(F, f.add(F, square, square), square), f.add(F, y1, y1)
    if _is_infinity(F, x1, y1) or _is_infinity(F, x2, y2):
        return f.zero(F), f.one(F)
    return f.sub(F, y2, y1), difference


@device
def _sum(F: Any, x1: Any, y1: Any, x2: Any, y2: Any, slope: Any) -> Any:
    if _is_infinity(F, x1, y1):
        return x2, y2
    if _is_infinity(F, x2, y2):
        return x1, y1
    if f.is_zero(F, f.sub(F, x1, x2)) and (not f.is_zero(F, f.sub(F, y1, y2)) or f.is_zero(F, y1)):
        return f.zero(F), f.zero(F)
    x3 = f.sub(F, f.sub(F, f.square(F, slope), x1), x2)
    return x3, f.sub(F, f.mul(F, slope, f.sub(F, x1, x3)), y1)


@kernel
def _add_pairs(
    F: Any, points: Any, entries: Any, has_entries: bool, pairs: Any, starts: Any, sums: Any, prefixes: Any
) -> None:
    """sums[j] = the sum of pair j, affine. starts: after the round. Thread t takes pairs t, t + threads, …"""
    t = cuda.grid(1)
    total = int64(starts[starts.shape[0] - 1])
    threads = (total + BATCH - 1) // BATCH
    if t >= threads:
        return
    product = f.one(F)
    for k in range(BATCH):
        j = t + k * threads
        if j < total:
            f.store(F, prefixes, j, product)
            x1, y1, x2, y2 = _load_pair(F, points, entries, has_entries, int64(pairs[j]))
            product = f.mul(F, product, _slope(F, x1, y1, x2, y2)[1])
    rest = inverse(F, product)
    for k in range(BATCH):
        j = t + (BATCH - 1 - k) * threads
        if j < total:
            x1, y1, x2, y2 = _load_pair(F, points, entries, has_entries, int64(pairs[j]))
            numerator, denominator = _slope(F, x1, y1, x2, y2)
            slope = f.mul(F, numerator, f.mul(F, rest, f.load(F, prefixes, j)))
            rest = f.mul(F, rest, denominator)
            x3, y3 = _sum(F, x1, y1, x2, y2, slope)
            f.store(F, sums, 2 * j, x3)
            f.store(F, sums, 2 * j + 1, y3)


@kernel
def _count_up(entries: Any, starts: Any) -> None:
    """Entries that name points in their order."""
    i = cuda.grid(1)
    if i < starts[starts.shape[0] - 1]:
        entries[i] = uint32(2 * i)


def add_pairs(
    F: Any, points: Any, entries: Any, starts: Any, rounds: int, workspace: Workspace
) -> tuple[Any, Any, Any]:
    """(points, entries, starts) after `rounds` rounds, one or more: buckets of fewer points, with equal sums.

    entries and starts: as of `digits.sort_by_digit`. The results are the workspace's.
    """
    buckets = starts.shape[0] - 1
    most = entries.shape[0]
    for k in range(rounds):
        fewer = min(most, (most + buckets) // 2)
        next_starts = workspace.array(f"starts {k}", (buckets + 1,), "uint32")
        pairs = workspace.array(f"pairs {k}", (fewer,), "uint32")
        launch(_halve, buckets + 1, starts, next_starts)
        exclusive_scan(next_starts, buckets + 1, workspace)
        launch(_list_pairs, most, starts, next_starts, pairs)
        sums = workspace.array(f"pair sums {k}", (2 * fewer, element_words(F)), "uint64")
        prefixes = workspace.array(f"prefixes {k}", (fewer, element_words(F)), "uint64")
        threads = -(-fewer // BATCH)
        launch(_add_pairs, threads, F, points, entries, k == 0, pairs, next_starts, sums, prefixes)
        points, starts, most = sums, next_starts, fewer
    launch(_count_up, most, entries, starts)
    return points, entries, starts
