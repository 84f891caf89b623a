"""Scalars most of which are 0 or 1, as a witness's: the ones' points are added up, the zeros' left alone.

What is left is a sum over few points, which wants narrower windows than one over all of them.
"""

from typing import Any

from numba import cuda, int64, uint32

from kernels.cuda.launch import SIMULATED, device, kernel, launch, launch_blocks
from kernels.cuda.memory import Workspace

THREADS = 4 if SIMULATED else 1024
TILE = 8 if SIMULATED else 8192  # scalars
LEAST = 8 if SIMULATED else 1 << 16  # scalars of which it is worth looking for zeros and ones
FEW = 4  # of which one is significant at most, where the others are taken out
SAMPLES = 4 if SIMULATED else 1 << 14


@device
def _is_significant(scalars: Any, i: int) -> Any:
    """Whether scalar i is neither 0 nor 1."""
    return (scalars[i, 0] > 1) | (scalars[i, 1] != 0) | (scalars[i, 2] != 0) | (scalars[i, 3] != 0)


@kernel
def _clear(counts: Any) -> None:
    if cuda.grid(1) < counts.shape[0]:
        counts[cuda.grid(1)] = 0


@kernel
def _sample(scalars: Any, step: int, samples: int, counts: Any) -> None:
    """counts[0] += the significant among every step-th."""
    t = cuda.grid(1)
    if t < samples and _is_significant(scalars, t * step):
        cuda.atomic.add(counts, 0, uint32(1))


@kernel
def _split(scalars: Any, counts: Any, chosen: Any) -> None:
    """The entries of ones from chosen[0] on, the numbers of significant ones from the end of `chosen` back.

    counts[1], counts[2] += how many there are of both. Those of a block's tile stay together.
    """
    found = cuda.shared.array(2, uint32)
    n, thread = int64(scalars.shape[0]), int64(cuda.threadIdx.x)
    first = int64(cuda.blockIdx.x) * TILE
    last = min(first + TILE, n)
    if thread < 2:
        found[thread] = 0
    cuda.syncthreads()
    for i in range(first + thread, last, THREADS):
        if _is_significant(scalars, i):
            cuda.atomic.add(found, 1, uint32(1))
        elif scalars[i, 0] != 0:
            cuda.atomic.add(found, 0, uint32(1))
    cuda.syncthreads()
    if thread < 2:
        found[thread] = cuda.atomic.add(counts, 1 + thread, found[thread])
    cuda.syncthreads()
    for i in range(first + thread, last, THREADS):
        if _is_significant(scalars, i):
            chosen[n - 1 - int64(cuda.atomic.add(found, 1, uint32(1)))] = uint32(i)
        elif scalars[i, 0] != 0:
            chosen[int64(cuda.atomic.add(found, 0, uint32(1)))] = uint32(2 * i)


@kernel
def _take(scalars: Any, numbers: Any, out: Any) -> None:
    t = cuda.grid(1)
    if t < 4 * out.shape[0]:
        out[t >> 2, t & 3] = scalars[int64(numbers[t >> 2]), t & 3]


@kernel
def _rename(entries: Any, starts: Any, numbers: Any) -> None:
    """An entry's point becomes the one of this number; there are as many as the last of `starts` says."""
    t = cuda.grid(1)
    if t < starts[starts.shape[0] - 1]:
        entry = int64(entries[t])
        entries[t] = uint32(2 * int64(numbers[entry >> 1]) + (entry & 1))


def split(scalars: Any, workspace: Workspace) -> tuple[Any, Any, Any] | None:
    """(entries, starts, numbers): those of the ones, as of one bucket, and which scalars are significant.

    None for fewer than LEAST scalars, or with more than a FEW-th of them significant. The arrays are the
    workspace's.
    """
    n = scalars.shape[0]
    if n < LEAST or not _are_few_in_a_sample(scalars, workspace):
        return None
    counts, chosen = _no_counts(workspace), workspace.array("chosen", (n,), "uint32")
    launch_blocks(_split, -(-n // TILE), THREADS, scalars, counts, chosen)
    ones, significant = (int(count) for count in counts[1:].copy_to_host())
    if FEW * significant > n:
        return None
    return chosen[: max(ones, 1)], counts[:2], chosen[n - significant :]


def _are_few_in_a_sample(scalars: Any, workspace: Workspace) -> bool:
    n, counts = scalars.shape[0], _no_counts(workspace)
    samples = min(n, SAMPLES)
    launch(_sample, samples, scalars, n // samples, samples, counts)
    return bool(FEW * int(counts[:1].copy_to_host()[0]) <= samples)


def _no_counts(workspace: Workspace) -> Any:
    counts = workspace.array("split counts", (3,), "uint32")
    launch(_clear, 3, counts)
    return counts


def take(scalars: Any, numbers: Any, workspace: Workspace) -> Any:
    """The scalars of these numbers, in memory of the workspace."""
    taken = workspace.array("significant scalars", (numbers.shape[0], scalars.shape[1]), "uint64")
    launch(_take, 4 * numbers.shape[0], scalars, numbers, taken)
    return taken


def rename(entries: Any, starts: Any, numbers: Any) -> None:
    """Make entries of taken scalars those of the points that they were taken from."""
    launch(_rename, entries.shape[0], entries, starts, numbers)
