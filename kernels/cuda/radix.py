"""Items sorted by bucket in two steps: first by bins of SPAN buckets, then each bin by itself.

A block of threads takes a tile of items and counts them in shared memory; it asks the counters of all
blocks for places but once for each bin or bucket that it has items of. Each step writes to places that lie
close together, which is what makes it fast: a cache holds them until their lines are full. Items of one
bucket end up in any order.
"""

from typing import Any

from numba import cuda, int64, uint32, uint64

from kernels.cuda.launch import SIMULATED, device, kernel, launch, launch_blocks
from kernels.cuda.memory import Workspace
from kernels.cuda.scan import exclusive_scan

LOG2_SPAN = 2 if SIMULATED else 12
SPAN = 1 << LOG2_SPAN  # buckets of a bin, and at most as many bins in a window
THREADS = 4 if SIMULATED else 1024
TILE = 16 if SIMULATED else 32768  # items
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


@kernel
def _clear(values: Any) -> None:
    i = cuda.grid(1)
    if i < values.shape[0]:
        values[i] = 0


@kernel
def _copy(out: Any, values: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = values[i]


@device
def _load(values: Any, k: int, last: int) -> Any:
    """values[k], or the last before `last`: to load ahead, while the item before is put in its place."""
    return values[uint64(min(k, last - 1))]


@device
def _clear_tile(counts: Any, n: int) -> None:
    for k in range(cuda.threadIdx.x, n, THREADS):
        counts[k] = 0
    cuda.syncthreads()


@device
def _take_places(counts: Any, n: int, cursors: Any, first: int) -> None:
    """Moves each of the cursors from `first` on by the tile's count, which becomes where it was before."""
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, n, THREADS):
        if counts[k] != 0:
            counts[k] = cuda.atomic.add(cursors, first + k, counts[k])
    cuda.syncthreads()


@device
def _count_bins(counts: Any, codes: Any, first: int, last: int, bins: int) -> None:
    _clear_tile(counts, bins)
    for k in range(first + cuda.threadIdx.x, last, THREADS):
        code = int64(codes[uint64(k)])
        if code != NO_BUCKET:
            cuda.atomic.add(counts, uint64(code >> (LOG2_SPAN + 1) & (bins - 1)), uint32(1))


@kernel
def _sort_into_bins(codes: Any, n: int, bins: int, sets: int, writes: bool, cursors: Any, items: Any) -> None:
    """Counts a tile's items of each bin into `cursors` or, with `writes`, writes them where these point.

    An item is 2^32·bucket + entry. Tiles are of one window, n codes in a row; `bins` are those of a set.
    """
    counts = cuda.shared.array(SPAN, uint32)
    tiles = (n + TILE - 1) // TILE
    window = int64(cuda.blockIdx.x) // tiles
    first = window * n + (int64(cuda.blockIdx.x) - window * tiles) * TILE
    last = min(first + TILE, (window + 1) * n)
    first_bin, first_entry = window % sets * bins, (window - window // sets) * n
    _count_bins(counts, codes, first, last, bins)
    _take_places(counts, bins, cursors, first_bin)
    if writes:
        following = _load(codes, first + cuda.threadIdx.x, last)
        for k in range(first + cuda.threadIdx.x, last, THREADS):
            code, following = int64(following), _load(codes, k + THREADS, last)
            if code != NO_BUCKET:
                place = cuda.atomic.add(counts, uint64(code >> (LOG2_SPAN + 1) & (bins - 1)), uint32(1))
                entry = 2 * (k - first_entry) + (code & 1)
                items[place] = uint64(code >> 1 << 32 | entry)


@kernel
def _count_tiles(bin_starts: Any, tile_counts: Any) -> None:
    """Tiles that each bin's items make, and a zero."""
    b = cuda.grid(1)
    last = bin_starts.shape[0] - 1
    if b < last:
        tile_counts[b] = (bin_starts[b + 1] - bin_starts[b] + uint32(TILE - 1)) // uint32(TILE)
    elif b == last:
        tile_counts[b] = 0


@kernel
def _sort_bins(
    items: Any,
    bin_starts: Any,
    tile_starts: Any,
    width: int,
    writes: bool,
    cursors: Any,
    out: Any,
) -> None:
    """Counts a tile's items of each bucket into `cursors` or, with `writes`, writes their entries there.

    Tiles are of one bin, which has `width` buckets.
    """
    counts = cuda.shared.array(SPAN, uint32)
    tile = int64(cuda.blockIdx.x)
    if tile >= tile_starts[tile_starts.shape[0] - 1]:
        return
    b = last_at_or_below(tile_starts, tile, 0)
    first = int64(bin_starts[b]) + (tile - int64(tile_starts[b])) * TILE
    last = min(first + TILE, int64(bin_starts[b + 1]))
    _clear_tile(counts, width)
    for k in range(first + cuda.threadIdx.x, last, THREADS):
        cuda.atomic.add(counts, items[uint64(k)] >> uint64(32) & uint64(width - 1), uint32(1))
    _take_places(counts, width, cursors, b * width)
    if writes:
        following = _load(items, first + cuda.threadIdx.x, last)
        for k in range(first + cuda.threadIdx.x, last, THREADS):
            item, following = following, _load(items, k + THREADS, last)
            place = cuda.atomic.add(counts, item >> uint64(32) & uint64(width - 1), uint32(1))
            out[place] = uint32(item & uint64(NO_BUCKET))


def sort_into_buckets(
    codes: Any, windows: int, buckets: int, sets: int, workspace: Workspace
) -> tuple[Any, Any]:
    """(entries, starts): bucket b's entries are entries[starts[b]:starts[b + 1]], in any order.

    codes: device, (windows·n,) uint32, 2·bucket + 1 where the digit is negative, or NO_BUCKET; overwritten.
    buckets: of a set, a power of two, at most SPAN². Window w has the buckets of set w % sets, and code i of
    it gives the entry 2·(w // sets·n + i), plus 1 where the digit is negative.
    """
    total = codes.shape[0]
    n, bins = total // windows, max(1, buckets // SPAN)
    bin_starts = workspace.array("bin starts", (sets * bins + 1,), "uint32")
    items = workspace.array("items", (total,), "uint64")
    blocks = windows * -(-n // TILE)
    step = (codes, n, bins, sets)
    _sort_step(_sort_into_bins, blocks, step, bin_starts, items, workspace)
    tile_starts = workspace.array("tile starts", (sets * bins + 1,), "uint32")
    launch(_count_tiles, sets * bins + 1, bin_starts, tile_starts)
    exclusive_scan(tile_starts, sets * bins + 1, workspace)
    starts = workspace.array("bucket starts", (sets * buckets + 1,), "uint32")
    blocks = total // TILE + sets * bins
    step = (items, bin_starts, tile_starts, buckets // bins)
    _sort_step(_sort_bins, blocks, step, starts, codes, workspace)
    return codes, starts


def _sort_step(
    function: Any,
    blocks: int,
    arguments: tuple[Any, ...],
    starts: Any,
    out: Any,
    workspace: Workspace,
) -> None:
    """Counts, sums the counts up to `starts`, and writes the items to `out`."""
    n = starts.shape[0]
    launch(_clear, n, starts)
    launch_blocks(function, blocks, THREADS, *arguments, False, starts, out)
    exclusive_scan(starts, n, workspace)
    cursors = workspace.array("cursors", (n - 1,), "uint32")
    launch(_copy, n - 1, cursors, starts)
    launch_blocks(function, blocks, THREADS, *arguments, True, cursors, out)
