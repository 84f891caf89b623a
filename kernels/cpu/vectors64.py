"""The kernels of `kernels.cpu.vectors` in 64-bit limbs, one element after the other.

F is a `Field` or `QuadraticField`; arrays are (n, L) or (n, 2, L), uint64, C-contiguous, in Montgomery form
unless said otherwise. `out` may be one of the inputs. Chunks of one vector may run side by side.
"""

from typing import Any

from numba import njit

from kernels.cpu import field as f


@njit(cache=True, nogil=True)
def to_montgomery(F: Any, out: Any, a: Any, start: int, stop: int) -> None:
    """out = a, from canonical integers below the modulus to Montgomery form."""
    for i in range(start, stop):
        f.store(F, out, i, f.to_montgomery(F, f.load(F, a, i)))


@njit(cache=True, nogil=True)
def from_montgomery(F: Any, out: Any, a: Any, start: int, stop: int) -> None:
    """out = a, from Montgomery form to canonical integers."""
    for i in range(start, stop):
        f.store(F, out, i, f.from_montgomery(F, f.load(F, a, i)))


@njit(cache=True, nogil=True)
def first_not_below_modulus(F: Any, a: Any, start: int, stop: int) -> int:
    """Index of the first element that is not fully reduced, canonical or Montgomery alike; −1 for none."""
    for i in range(start, stop):
        if not f.is_reduced(F, f.load(F, a, i)):
            return i
    return -1


@njit(cache=True, nogil=True)
def multiply(F: Any, out: Any, a: Any, b: Any, start: int, stop: int) -> None:
    """out = a·b, element by element."""
    for i in range(start, stop):
        f.store(F, out, i, f.mul(F, f.load(F, a, i), f.load(F, b, i)))


@njit(cache=True, nogil=True)
def multiply_subtract(F: Any, out: Any, a: Any, b: Any, c: Any, start: int, stop: int) -> None:
    """out = a·b − c, element by element."""
    for i in range(start, stop):
        product = f.mul(F, f.load(F, a, i), f.load(F, b, i))
        f.store(F, out, i, f.sub(F, product, f.load(F, c, i)))


@njit(cache=True, nogil=True)
def scale(F: Any, out: Any, a: Any, factor: Any, start: int, stop: int) -> None:
    """out = factor·a; factor is an array of one element."""
    value = f.load(F, factor, 0)
    for i in range(start, stop):
        f.store(F, out, i, f.mul(F, value, f.load(F, a, i)))


@njit(cache=True, nogil=True)
def power(F: Any, base: Any, exponent: int) -> Any:
    """base^exponent of one element, for a kernel to call; exponent ≥ 0."""
    result = f.one(F)
    while exponent:
        if exponent & 1:
            result = f.mul(F, result, base)
        base = f.square(F, base)
        exponent >>= 1
    return result


@njit(cache=True, nogil=True)
def scale_by_powers(F: Any, out: Any, a: Any, first: Any, ratio: Any, start: int, stop: int) -> None:
    """out[i] = a[i]·first·ratio^i, whatever the chunk; first and ratio are arrays of one element."""
    step = f.load(F, ratio, 0)
    factor = f.mul(F, f.load(F, first, 0), power(F, step, start))
    for i in range(start, stop):
        f.store(F, out, i, f.mul(F, f.load(F, a, i), factor))
        factor = f.mul(F, factor, step)


@njit(cache=True, nogil=True)
def first_powers(F: Any, out: Any, first: Any, ratio: Any, start: int) -> None:
    """out[k] = first·ratio^(start + k), but for the last, which is ratio^k."""
    step, last = f.load(F, ratio, 0), out.shape[0] - 1
    factor = f.mul(F, f.load(F, first, 0), power(F, step, start))
    for k in range(last):
        f.store(F, out, k, factor)
        factor = f.mul(F, factor, step)
    f.store(F, out, last, power(F, step, last))
