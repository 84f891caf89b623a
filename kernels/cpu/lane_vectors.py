"""The kernels of `kernels.cpu.vectors` on eight elements at once; stop − start must be a multiple of eight.

F is a `LaneField`; arrays are as in `kernels.cpu.vectors`, in Montgomery form with 2^(64·L). A product with
one operand shifted (`lanes.load_rows_shifted`) is the Montgomery product for that form, and below 2·p.
"""

from typing import Any

from numba import njit

from kernels.cpu import lanes


@njit(cache=True, nogil=True)
def multiply(F: Any, out: Any, a: Any, b: Any, start: int, stop: int) -> None:
    """out = a·b, element by element."""
    for i in range(start, stop, 8):
        product = lanes.mul(F, lanes.load_rows_shifted(F, a, i, 1), lanes.load_rows(F, b, i, 1))
        lanes.store_rows(F, out, i, 1, lanes.subtract_once(F, product))


@njit(cache=True, nogil=True)
def multiply_subtract(F: Any, out: Any, a: Any, b: Any, c: Any, start: int, stop: int) -> None:
    """out = a·b − c, element by element."""
    for i in range(start, stop, 8):
        product = lanes.mul_raw(F, lanes.load_rows_shifted(F, a, i, 1), lanes.load_rows(F, b, i, 1))
        difference = lanes.carry(F, lanes.sub_raw(F, product, lanes.load_rows(F, c, i, 1), 1))
        lanes.store_rows(F, out, i, 1, lanes.canonical(F, difference))


@njit(cache=True, nogil=True)
def scale(F: Any, out: Any, a: Any, factor: Any, start: int, stop: int) -> None:
    """out = factor·a; factor is an array of one row."""
    value = lanes.broadcast_row(F, factor, 0)
    for i in range(start, stop, 8):
        product = lanes.mul(F, lanes.load_rows_shifted(F, a, i, 1), value)
        lanes.store_rows(F, out, i, 1, lanes.subtract_once(F, product))


@njit(cache=True, nogil=True)
def scale_by_powers(F: Any, out: Any, a: Any, powers: Any, start: int, stop: int) -> None:
    """out[i] = a[i]·first·ratio^i: rows 0 to 7 of powers are first·ratio^(start + row), row 8 is ratio^8."""
    factor = lanes.reduce(F, lanes.load_rows_shifted(F, powers, 0, 1))
    step = lanes.reduce(F, lanes.load_rows_shifted(F, powers, 8, 0))
    for i in range(start, stop, 8):
        product = lanes.mul(F, lanes.load_rows(F, a, i, 1), factor)
        lanes.store_rows(F, out, i, 1, lanes.subtract_once(F, product))
        factor = lanes.mul(F, factor, step)
