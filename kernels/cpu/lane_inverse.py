"""1/a of eight elements side by side, for kernels that share one inversion among many elements."""

from typing import Any

from numba import njit

from kernels.cpu import lanes, vectors64


@njit(cache=True, nogil=True)
def inverse(F: Any, a: Any, rows: Any) -> Any:
    """1/a of normal elements, 0 for multiples of p; rows is an array of eight rows to work in.

    The lanes share one inversion in 64-bit limbs, which takes as long as some 200 products there. Read as
    Montgomery forms with 2^(64·L), rows a·R become 2^(128·L)/(a·R); times R²/2^(128·L) that is R/a.
    """
    lanes.store_rows(F, rows, 0, 1, lanes.canonical(F, a))
    vectors64.batch_inverse(F.field, rows, 0, 8)
    return lanes.mul(F, lanes.load_rows(F, rows, 0, 1), lanes.squared_shift(F))
