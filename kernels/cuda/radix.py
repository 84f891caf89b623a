"""Items sorted by bucket in two steps: first by bins of neighbouring buckets, then each bin by itself.

Both take the items in tiles that fit a block's shared memory (`kernels.cuda.tiles`). Items of one bucket end
up in any order.
"""

from typing import Any

from numba import cuda, int64, uint32

from kernels.cuda.launch import SIMULATED, kernel, launch, launch_blocks
from kernels.cuda.memory import Workspace
from kernels.cuda.scan import exclusive_scan
from kernels.cuda.tiles import COUNTERS_BYTES, MOST_ITEMS, THREADS, sort_bins, sort_into_bins


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


@kernel
def _count_tiles(bin_starts: Any, tile: int, tile_counts: Any) -> None:
    """Tiles that each bin's items make, and a zero."""
    b = cuda.grid(1)
    last = bin_starts.shape[0] - 1
    if b < last:
        tile_counts[b] = uint32((int64(bin_starts[b + 1]) - int64(bin_starts[b]) + tile - 1) // tile)
    elif b == last:
        tile_counts[b] = 0


def sort_into_buckets(
    codes: Any, windows: int, buckets: int, sets: int, workspace: Workspace
) -> tuple[Any, Any]:
    """(entries, starts): bucket b's entries are entries[starts[b]:starts[b + 1]], in any order.

    codes: device, (windows·n,) uint32, 2·bucket + 1 where the digit is negative, or NO_BUCKET; overwritten.
    buckets: of a set, a power of two, at most SPAN². Window w has the buckets of set w % sets, and code i of
    it gives the entry 2·(w // sets·n + i), plus 1 where the digit is negative.
    """
    total = codes.shape[0]
    n = total // windows
    log2_width = buckets.bit_length() // 2  # so that neither step writes to many more places than the other
    width, bins = 1 << log2_width, buckets >> log2_width
    tile = _tile_items()
    bin_starts = workspace.array("bin starts", (sets * bins + 1,), "uint32")
    items = workspace.array("items", (total,), "uint64")
    blocks = windows * -(-n // tile)
    _sort_step(sort_into_bins, blocks, (codes, n, bins, log2_width, sets), tile, bin_starts, items, workspace)
    tile_starts = workspace.array("tile starts", (sets * bins + 1,), "uint32")
    launch(_count_tiles, sets * bins + 1, bin_starts, tile, tile_starts)
    exclusive_scan(tile_starts, sets * bins + 1, workspace)
    starts = workspace.array("bucket starts", (sets * buckets + 1,), "uint32")
    blocks = total // tile + sets * bins
    _sort_step(sort_bins, blocks, (items, bin_starts, tile_starts, width), tile, starts, codes, workspace)
    return codes, starts


def _tile_items() -> int:
    """As many as fit a block's shared memory on the device that is active."""
    if SIMULATED:
        return MOST_ITEMS
    shared_bytes = int(cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    return min(MOST_ITEMS, (shared_bytes - COUNTERS_BYTES) // 8 // THREADS * THREADS)


def _sort_step(
    function: Any,
    blocks: int,
    arguments: tuple[Any, ...],
    tile: int,
    starts: Any,
    out: Any,
    workspace: Workspace,
) -> None:
    """Counts, sums the counts up to `starts`, and writes the items to `out`."""
    n = starts.shape[0]
    launch(_clear, n, starts)
    launch_blocks(function, blocks, THREADS, *arguments, tile, False, starts, out)
    exclusive_scan(starts, n, workspace)
    cursors = workspace.array("cursors", (n - 1,), "uint32")
    launch(_copy, n - 1, cursors, starts)
    launch_blocks(function, blocks, THREADS, *arguments, tile, True, cursors, out, shared_bytes=8 * tile)
