"""Kernels for NVIDIA GPUs, compiled by numba-cuda. Import nothing of it on a machine that has none.

Arrays live in device memory and have the layout of `kernels.cpu`, so that keys and witnesses go there as they
are. A kernel takes a `Field` or `QuadraticField` first and is compiled once for each (`tokens`). With
NUMBA_ENABLE_CUDASIM=1 numba runs every thread in Python, and field elements are Python integers.
"""

from importlib.util import find_spec

from numba import config

from kernels import cache

if find_spec("numba_cuda") and not config.ENABLE_CUDASIM:
    from numba.cuda.core.caching import IndexDataCacheFile

    cache.let_processes_share(IndexDataCacheFile)
