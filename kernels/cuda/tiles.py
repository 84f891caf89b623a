"""The two steps of `kernels.cuda.radix` on one tile of items, which a block of threads takes.

It counts them in shared memory, and asks the counters of all blocks for places but once for each bin or
bucket that it has items of. It puts the tile in order in shared memory first, so that what goes to
neighbouring places is written at once: single words that are scattered over memory take several times longer.
"""

from typing import Any

from numba import cuda, int64, uint32, uint64

from kernels.cuda.launch import SIMULATED, device, kernel_within

LOG2_SPAN = 2 if SIMULATED else 12
SPAN = 1 << LOG2_SPAN  # at most so many buckets of a bin, and bins of a window
THREADS = 4 if SIMULATED else 1024
MOST_ITEMS = 16 if SIMULATED else 20480  # of a tile, 8 bytes each
COUNTERS_BYTES = 4 * (2 * SPAN + THREADS)  # that a block has beside its tile
REGISTERS = 64  # of a thread, so that a block fits
NO_BUCKET = (1 << 32) - 1


@device
def last_at_or_below(starts: Any, position: int, low: int) -> Any:
    """The last index, from `low` on, whose start is not above `position`; the final start is above it."""
    high = int64(starts.shape[0] - 1)
    low = int64(low)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@device
def _clear_tile(counts: Any, n: int) -> None:
    for k in range(cuda.threadIdx.x, n, THREADS):
        counts[k] = 0
    cuda.syncthreads()


@device
def _add_counts(counts: Any, n: int, totals: Any, first: int) -> None:
    """Adds the tile's counts to the totals from `first` on."""
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, n, THREADS):
        if counts[k] != 0:
            cuda.atomic.add(totals, first + k, counts[k])


@device
def _take_places(counts: Any, starts: Any, sums: Any, n: int, cursors: Any, first: int) -> None:
    """Moves each of the cursors from `first` on by the tile's count.

    starts = where each bin begins in the ordered tile; counts = how far from there its place in memory is.
    """
    cuda.syncthreads()
    thread = int64(cuda.threadIdx.x)
    share = (n + THREADS - 1) // THREADS
    low, high = min(thread * share, n), min((thread + 1) * share, n)
    total = uint32(0)
    for k in range(low, high):
        total = uint32(total + counts[k])
    sums[thread] = total
    cuda.syncthreads()
    distance = 1
    while distance < THREADS:
        before = sums[thread - distance] if thread >= distance else uint32(0)
        cuda.syncthreads()
        sums[thread] += before
        cuda.syncthreads()
        distance *= 2
    start = uint32(sums[thread] - total)
    for k in range(low, high):
        count = counts[k]
        starts[k] = start
        if count != 0:
            counts[k] = uint32(cuda.atomic.add(cursors, first + k, count) - start)
        start = uint32(start + count)
    cuda.syncthreads()


@device
def _bin(code: int, log2_width: int, bins: int) -> Any:
    return uint64(code >> (log2_width + 1) & (bins - 1))


@kernel_within(REGISTERS)
def sort_into_bins(
    codes: Any,
    n: int,
    bins: int,
    log2_width: int,
    sets: int,
    tile: int,
    writes: bool,
    cursors: Any,
    items: Any,
) -> None:
    """Counts a tile's items of each bin into `cursors` or, with `writes`, writes them where these point.

    An item is 2^32·bucket + entry. Tiles are of one window, n codes in a row; `bins` are those of a set.
    """
    counts = cuda.shared.array(SPAN, uint32)
    starts = cuda.shared.array(SPAN, uint32)
    sums = cuda.shared.array(THREADS, uint32)
    ordered = cuda.shared.array(0, uint64)
    thread = int64(cuda.threadIdx.x)
    tiles = (n + tile - 1) // tile
    window = int64(cuda.blockIdx.x) // tiles
    first = window * n + (int64(cuda.blockIdx.x) - window * tiles) * tile
    last = min(first + tile, (window + 1) * n)
    first_bin, first_entry = window % sets * bins, (window - window // sets) * n
    _clear_tile(counts, bins)
    for k in range(first + thread, last, THREADS):
        code = int64(codes[uint64(k)])
        if code != NO_BUCKET:
            cuda.atomic.add(counts, _bin(code, log2_width, bins), uint32(1))
    if not writes:
        _add_counts(counts, bins, cursors, first_bin)
        return
    _take_places(counts, starts, sums, bins, cursors, first_bin)
    for k in range(first + thread, last, THREADS):
        code = int64(codes[uint64(k)])
        if code != NO_BUCKET:
            place = cuda.atomic.add(starts, _bin(code, log2_width, bins), uint32(1))
            entry = 2 * (k - first_entry) + (code & 1)
            ordered[place] = uint64(code >> 1 << 32 | entry)
    cuda.syncthreads()
    for k in range(thread, sums[THREADS - 1], THREADS):
        item = ordered[k]
        items[uint32(k + counts[_bin(int64(item >> uint64(31)), log2_width, bins)])] = item


@kernel_within(REGISTERS)
def sort_bins(
    items: Any,
    bin_starts: Any,
    tile_starts: Any,
    width: int,
    tile: int,
    writes: bool,
    cursors: Any,
    out: Any,
) -> None:
    """Counts a tile's items of each bucket into `cursors` or, with `writes`, writes their entries there.

    Tiles are of one bin, which has `width` buckets.
    """
    counts = cuda.shared.array(SPAN, uint32)
    starts = cuda.shared.array(SPAN, uint32)
    sums = cuda.shared.array(THREADS, uint32)
    ordered = cuda.shared.array(0, uint64)
    thread, number = int64(cuda.threadIdx.x), int64(cuda.blockIdx.x)
    if number >= tile_starts[tile_starts.shape[0] - 1]:
        return
    b = last_at_or_below(tile_starts, number, 0)
    first = int64(bin_starts[b]) + (number - int64(tile_starts[b])) * tile
    last = min(first + tile, int64(bin_starts[b + 1]))
    _clear_tile(counts, width)
    for k in range(first + thread, last, THREADS):
        cuda.atomic.add(counts, items[uint64(k)] >> uint64(32) & uint64(width - 1), uint32(1))
    if not writes:
        _add_counts(counts, width, cursors, b * width)
        return
    _take_places(counts, starts, sums, width, cursors, b * width)
    for k in range(first + thread, last, THREADS):
        item = items[uint64(k)]
        place = cuda.atomic.add(starts, item >> uint64(32) & uint64(width - 1), uint32(1))
        ordered[place] = item
    cuda.syncthreads()
    for k in range(thread, last - first, THREADS):
        item = ordered[k]
        out[uint32(k + counts[item >> uint64(32) & uint64(width - 1)])] = uint32(item & uint64(NO_BUCKET))
