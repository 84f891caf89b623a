"""Sums of buckets, and the sum of these weighted by the size of their digit.

The entries are cut into runs of equal length, one a thread, wherever buckets end, so that a bucket of any
size keeps no warp waiting. A thread writes the sum of each bucket that begins in its run. What its run starts
with, the rest of a bucket that began in a run before, is its head; heads of one bucket are neighbours and are
added up in groups, then the heads of the groups, and so on.
"""

from typing import Any

from numba import cuda, int64

from kernels.cuda import curve
from kernels.cuda import field as f
from kernels.cuda.launch import device, kernel, launch
from kernels.cuda.memory import Workspace, element_words

NO_BUCKET = -1
GROUP_BITS = 3
GROUP = 1 << GROUP_BITS


@device
def _bucket_at(starts: Any, position: int, low: int) -> Any:
    """The bucket, from number `low` on, that holds the entry at `position`."""
    high = int64(starts.shape[0] - 1)
    low = int64(low)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@kernel
def _add_entries(
    F: Any,
    points: Any,
    entries: Any,
    starts: Any,
    total: int,
    run: int,
    buckets: Any,
    heads: Any,
    head_buckets: Any,
) -> None:
    """Thread t adds up entries [t·run, (t + 1)·run) of `total`, head t into heads[t]."""
    t = cuda.grid(1)
    low = t * run
    if low >= total:
        return
    high = min(low + run, total)
    bucket = _bucket_at(starts, low, 0)
    end = int64(starts[bucket + 1])
    is_head = starts[bucket] < low
    head_buckets[t] = bucket if is_head else NO_BUCKET
    total_point = curve.infinity(F)
    for k in range(low, high):
        if k == end:
            if is_head:
                curve.store_point(F, heads, t, total_point)
            else:
                curve.store_point(F, buckets, bucket, total_point)
            total_point = curve.infinity(F)
            is_head = False
            bucket += 1
            if starts[bucket + 1] <= k:
                bucket = _bucket_at(starts, k, bucket)
            end = int64(starts[bucket + 1])
        entry = int64(entries[k])
        x, y = f.load(F, points, entry & ~1), f.load(F, points, entry | 1)
        y = f.select(F, entry & 1 != 0, f.sub(F, f.zero(F), y), y)
        total_point = curve.add_affine(F, total_point, x, y)
    if is_head:
        curve.store_point(F, heads, t, total_point)
    else:
        curve.store_point(F, buckets, bucket, total_point)


@kernel
def _add_heads(
    F: Any, heads: Any, head_buckets: Any, n: int, buckets: Any, next_heads: Any, next_head_buckets: Any
) -> None:
    """Thread t adds GROUP heads to their buckets, or to its own head if a group before begins the bucket."""
    t = cuda.grid(1)
    low = t * GROUP
    if low >= n:
        return
    bucket = int64(head_buckets[low])
    is_head = bucket != NO_BUCKET and low > 0 and head_buckets[low - 1] == bucket
    next_head_buckets[t] = bucket if is_head else NO_BUCKET
    total_point = curve.infinity(F)
    if bucket != NO_BUCKET and not is_head:
        total_point = curve.load_point(F, buckets, bucket)
    for k in range(low, min(low + GROUP, n)):
        next_bucket = int64(head_buckets[k])
        if next_bucket != bucket:
            if is_head:
                curve.store_point(F, next_heads, t, total_point)
            elif bucket != NO_BUCKET:
                curve.store_point(F, buckets, bucket, total_point)
            is_head = False
            bucket = next_bucket
            if bucket != NO_BUCKET:
                total_point = curve.load_point(F, buckets, bucket)
        if bucket != NO_BUCKET:
            total_point = curve.add(F, total_point, curve.load_point(F, heads, k))
    if is_head:
        curve.store_point(F, next_heads, t, total_point)
    elif bucket != NO_BUCKET:
        curve.store_point(F, buckets, bucket, total_point)


@kernel
def _weigh(
    F: Any, sums: Any, weighted: Any, n: int, group: int, log2_span: int, next_sums: Any, next_weighted: Any
) -> None:
    """Thread t joins `group` neighbours, of 2^log2_span buckets each: their sum, and their weighted sum.

    Bucket k of a neighbour's weighs k + 1, so neighbour j's sum counts 2^log2_span·j times more. At the
    start, with log2_span = 0, `weighted` is not read: it would be `sums`.
    """
    t = cuda.grid(1)
    if t >= n:
        return
    running = curve.load_point(F, sums, t * group + group - 1)
    more = curve.infinity(F)
    for k in range(1, group):
        more = curve.add(F, more, running)
        running = curve.add(F, running, curve.load_point(F, sums, t * group + group - 1 - k))
    curve.store_point(F, next_sums, t, running)
    if log2_span == 0:
        more = curve.add(F, more, running)
    else:
        for _ in range(log2_span):
            more = curve.double(F, more)
        for k in range(group):
            more = curve.add(F, more, curve.load_point(F, weighted, t * group + k))
    curve.store_point(F, next_weighted, t, more)


@kernel
def _clear_points(F: Any, points: Any, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        f.store(F, points, 4 * i + 2, f.zero(F))


def bucket_sums(F: Any, points: Any, entries: Any, starts: Any, tasks: int, workspace: Workspace) -> Any:
    """The XYZZ sum of each bucket's entries (`digits.sort_by_digit`), in about `tasks` runs."""
    words = element_words(F)
    count = starts.shape[0] - 1
    buckets = workspace.array("buckets", (4 * count, words), "uint64")
    launch(_clear_points, count, F, buckets, count)
    total = int(starts[count])
    if total == 0:
        return buckets
    run = max(GROUP, -(-total // tasks))
    n = -(-total // run)
    heads, head_buckets = _head_arrays(F, 0, tasks, workspace)
    launch(_add_entries, n, F, points, entries, starts, total, run, buckets, heads, head_buckets)
    level = 0
    while n > 1:
        level += 1
        following = _head_arrays(F, level, -(-tasks >> GROUP_BITS * level), workspace)
        groups = -(-n // GROUP)
        launch(_add_heads, groups, F, heads, head_buckets, n, buckets, *following)
        (heads, head_buckets), n = following, groups
    return buckets


def _head_arrays(F: Any, level: int, n: int, workspace: Workspace) -> tuple[Any, Any]:
    heads = workspace.array(f"heads {level}", (4 * n + 4, element_words(F)), "uint64")
    return heads, workspace.array(f"head buckets {level}", (n + 1,), "int64")


def weighted_sums(F: Any, buckets: Any, bits: int, windows: int, workspace: Workspace) -> Any:
    """Σ (k + 1)·(bucket k) of each window's 2^(bits−1) buckets: XYZZ, (4·windows, words)."""
    sums = weighted = buckets
    left, span = bits - 1, 0
    while left > 0 or span == 0:
        step = min(GROUP_BITS, left)
        left -= step
        n = windows << left
        following = [
            workspace.array(f"{name} {left}", (4 * n, element_words(F)), "uint64")
            for name in ("sums", "weighted")
        ]
        launch(_weigh, n, F, sums, weighted, n, 1 << step, span, *following)
        (sums, weighted), span = following, span + step
    return weighted
