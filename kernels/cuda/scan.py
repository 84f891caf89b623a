"""Running sums of counters, by which a counting sort finds where each bucket begins."""

from typing import Any

from numba import cuda, uint32

from kernels.cuda.launch import SIMULATED, kernel, launch, launch_blocks
from kernels.cuda.memory import Workspace

BLOCK_THREADS = 4 if SIMULATED else 256
ITEMS = 2 if SIMULATED else 16  # of a thread
BLOCK_ITEMS = BLOCK_THREADS * ITEMS


@kernel
def _scan_blocks(values: Any, sums: Any, n: int) -> None:
    """values[i] = the sum of those before i in its block; sums[b] = block b's sum."""
    prefixes = cuda.shared.array(BLOCK_THREADS, uint32)
    thread = cuda.threadIdx.x
    low = cuda.blockIdx.x * BLOCK_ITEMS + thread * ITEMS
    total = uint32(0)
    for i in range(low, min(low + ITEMS, n)):
        value = values[i]
        values[i] = total
        total = uint32(total + value)
    prefixes[thread] = total
    cuda.syncthreads()
    distance = 1
    while distance < BLOCK_THREADS:  # Hillis and Steele, "Data parallel algorithms", 1986
        before = prefixes[thread - distance] if thread >= distance else uint32(0)
        cuda.syncthreads()
        prefixes[thread] += before
        cuda.syncthreads()
        distance *= 2
    if thread == BLOCK_THREADS - 1:
        sums[cuda.blockIdx.x] = prefixes[thread]
    before = uint32(prefixes[thread] - total)
    for i in range(low, min(low + ITEMS, n)):
        values[i] += before


@kernel
def _add_block_sums(values: Any, sums: Any, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        values[i] += sums[i // BLOCK_ITEMS]


def exclusive_scan(values: Any, n: int, workspace: Workspace, level: int = 0) -> None:
    """values[i] = Σ values[:i] for i < n, in place; uint32, their sum below 2^32."""
    blocks = -(-n // BLOCK_ITEMS)
    sums = workspace.array(f"scan {level}", (blocks,), "uint32")
    launch_blocks(_scan_blocks, blocks, BLOCK_THREADS, values, sums, n)
    if blocks > 1:
        exclusive_scan(sums, blocks, workspace, level + 1)
        launch(_add_block_sums, n, values, sums, n)
