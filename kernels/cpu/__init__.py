"""Kernels for the processor, compiled by numba.

Every kernel takes a `Field`, `QuadraticField` or `Group` first and is compiled once for each (`tokens`).
They release the GIL, take a range of the work and start no threads.
"""

from numba.core.caching import IndexDataCacheFile

from kernels import cache, kept

cache.let_processes_share(IndexDataCacheFile)
kept.load_kept_alone()
