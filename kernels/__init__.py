"""Arithmetic on arrays: fields, curves, transforms, multi-scalar multiplication, pairing.

`fields` describes the curves, `encoding` turns Python integers into limb arrays and back, `parallel` spreads
a kernel over threads, `cpu` holds the numba kernels. Importing any of it compiles nothing: a kernel is
compiled, or read back from the cache folder that is chosen here, when it is first called.
"""

import os

from kernels import cache

cache.use_own_folder()
# numba raises thousands of errors while it compiles, drops them unseen, and takes a twentieth of the time to
# color them.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
