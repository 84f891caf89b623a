"""1/a of eight elements side by side, for kernels that share one inversion among many elements."""

from typing import Any

from numba import njit

from kernels.cpu import lanes
from kernels.cpu.formulas import Row, formula
from kernels.cpu.lanes import LANES


@formula
def _invert_eight(rows: Row) -> None:
    """Each of eight elements to its inverse, zero to zero, with one inversion (Montgomery's trick)."""
    one, zero = rows[0].one(), rows[0].constant(0)
    products = [one]  # before each element
    for i in range(LANES):
        products.append(products[i] * rows[i].replaced_if(rows[i].is_zero(), one))
    inverted = products[LANES].inverse()
    for i in reversed(range(LANES)):
        value = rows[i]
        rows[i] = (inverted * products[i]).replaced_if(value.is_zero(), zero)
        if i:  # LLVM fails on a call at the end whose result of several words nobody uses
            inverted = inverted * value.replaced_if(value.is_zero(), one)


@njit(cache=True, nogil=True)
def inverse(F: Any, a: Any, rows: Any) -> Any:
    """1/a of normal elements, 0 for multiples of p; rows is an array of eight rows to work in.

    The lanes share one inversion in 64-bit limbs, which takes as long as some 200 products there. Read as
    Montgomery forms with 2^(64·L), rows a·R become 2^(128·L)/(a·R); times R²/2^(128·L) that is R/a.
    """
    lanes.store_rows(F, rows, 0, 1, lanes.canonical(F, a))
    _invert_eight(F.field, rows, 0)
    return lanes.mul(F, lanes.load_rows(F, rows, 0, 1), lanes.squared_shift(F))
