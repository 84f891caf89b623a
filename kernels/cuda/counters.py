"""Counters in device memory that many threads count up."""

from typing import Any

from numba import cuda, int32, uint32

from kernels.cuda.launch import SIMULATED, device

if SIMULATED:

    @device
    def take_number(counters: Any, i: int) -> Any:
        """counters[i] += 1, and what it was before, uint32: no two threads get the same."""
        return cuda.atomic.add(counters, i, uint32(1))

else:

    @device
    def take_number(counters: Any, i: int) -> Any:
        """counters[i] += 1, and what it was before, uint32: no two threads get the same.

        The threads of a warp that count the same counter do so together: most of a witness is ones, and the
        memory takes up one addition to an address after the other.
        """
        same = cuda.match_any_sync(cuda.activemask(), int32(i))
        first = int32(cuda.ffs(same) - 1)
        number = int32(0)
        if cuda.laneid == first:
            number = int32(cuda.atomic.add(counters, i, uint32(cuda.popc(same))))
        number = cuda.shfl_sync(same, number, first)
        before = cuda.popc(int32(same & ((int32(1) << cuda.laneid) - 1)))
        return uint32(number + before)
