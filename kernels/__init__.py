"""Arithmetic on arrays: fields, curves, transforms, multi-scalar multiplication, pairing.

`fields` describes the curves, `encoding` turns Python integers into limb arrays and back, `parallel` spreads
a kernel over threads, `cpu` holds the numba kernels. Importing any of it compiles nothing: a kernel is
compiled, or read back from the cache folder that is chosen here, when it is first called.
"""

from kernels import cache

cache.use_own_folder()
