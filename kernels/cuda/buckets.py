"""Sums of buckets.

The entries are cut into runs of equal length, one a thread, wherever buckets end, so that a bucket of any
size keeps no warp waiting. A thread writes the sum of each bucket that begins in its run. What its run starts
with, the rest of a bucket that began in a run before, is its head; heads of one bucket are neighbours and are
added up in groups, then the heads of the groups, and so on.
"""

from typing import Any

from numba import cuda, int64

from kernels.cuda import curve
from kernels.cuda import field as f
from kernels.cuda.launch import THREADS, device, kernel, kernel_within, launch, resident_threads
from kernels.cuda.memory import Workspace, element_words
from kernels.cuda.tiles import NO_BUCKET, last_at_or_below
from kernels.fields import Field

WAVES = 4  # runs for each thread that the device holds at once, or more
LONGEST_RUN = 512  # entries: many whole waves of short runs, so that few threads wait for the last to end
GROUP = 8  # heads that a thread adds; also the shortest run


@device
def _load_entry(F: Any, points: Any, entry: int) -> Any:
    """The affine point of an entry: number entry/2, negated where the entry is odd."""
    x, y = f.load(F, points, entry & ~1), f.load(F, points, entry | 1)
    return x, f.select(F, entry & 1 != 0, f.sub(F, f.zero(F), y), y)


def _add_entries(
    F: Any, points: Any, entries: Any, starts: Any, tasks: int, buckets: Any, heads: Any, head_buckets: Any
) -> None:
    """Thread t of `tasks` adds up its run of the entries, its head into heads[t]."""
    t = cuda.grid(1)
    if t >= tasks:
        return
    total = int64(starts[starts.shape[0] - 1])
    run = max((total + tasks - 1) // tasks, GROUP)
    low = t * run
    if low >= total:
        head_buckets[t] = NO_BUCKET
        return
    high = min(low + run, total)
    bucket = last_at_or_below(starts, low, 0)
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
                bucket = last_at_or_below(starts, k, bucket)
            end = int64(starts[bucket + 1])
        x, y = _load_entry(F, points, int64(entries[k]))
        total_point = curve.add_affine(F, total_point, x, y)
    if is_head:
        curve.store_point(F, heads, t, total_point)
    else:
        curve.store_point(F, buckets, bucket, total_point)


_add_in_prime_field = kernel_within(128)(_add_entries)  # what does not fit costs less than fewer threads
_add_in_quadratic_field = kernel(_add_entries)


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
    is_head = bucket != NO_BUCKET and low > 0 and int64(head_buckets[low - 1]) == bucket
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
def _clear_empty(F: Any, starts: Any, buckets: Any) -> None:
    """Makes buckets without entries, which no run writes, infinity."""
    i = cuda.grid(1)
    if i < starts.shape[0] - 1 and starts[i] == starts[i + 1]:
        f.store(F, buckets, 4 * i + 2, f.zero(F))


def bucket_sums(F: Any, points: Any, entries: Any, starts: Any, tasks: int, workspace: Workspace) -> Any:
    """The XYZZ sum of each bucket's entries (`digits.sort_by_digit`), by `tasks` runs, 0 to choose."""
    count = starts.shape[0] - 1
    buckets = workspace.array("buckets", (4 * count, element_words(F)), "uint64")
    launch(_clear_empty, count, F, starts, buckets)
    add_entries = _add_in_prime_field if isinstance(F, Field) else _add_in_quadratic_field
    if tasks == 0:
        alike = F, points, entries, starts, 0, buckets, buckets, starts
        at_once = resident_threads(add_entries, THREADS, *alike)
        tasks = max(WAVES, -(-entries.shape[0] // (LONGEST_RUN * at_once))) * at_once
    n = min(tasks, -(-entries.shape[0] // GROUP))
    heads, head_buckets = _head_arrays(F, 0, n, workspace)
    launch(add_entries, n, F, points, entries, starts, n, buckets, heads, head_buckets)
    level = 0
    while n > 1:
        level += 1
        groups = -(-n // GROUP)
        following = _head_arrays(F, level, groups, workspace)
        launch(_add_heads, groups, F, heads, head_buckets, n, buckets, *following)
        (heads, head_buckets), n = following, groups
    return buckets


def _head_arrays(F: Any, level: int, n: int, workspace: Workspace) -> tuple[Any, Any]:
    heads = workspace.array(f"heads {level}", (4 * n, element_words(F)), "uint64")
    return heads, workspace.array(f"head buckets {level}", (n,), "uint32")
