"""Makes the C library give memory back to the system as soon as an array is freed.

glibc maps large blocks one by one, and unmaps them when they are freed. But each freed block raises the size
from which it does so, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD): after the first partition most arrays
come from heaps, which shrink only from their end. The process then holds far more than is reserved.
"""

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
MAPPED_FROM_BYTES = 1 << 18


def give_back_freed_memory() -> bool:
    """Fix the thresholds for this process; False where its C library has none."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # not glibc
        return False
    return bool(
        mallopt(_M_MMAP_THRESHOLD, MAPPED_FROM_BYTES) and mallopt(_M_TRIM_THRESHOLD, MAPPED_FROM_BYTES)
    )
