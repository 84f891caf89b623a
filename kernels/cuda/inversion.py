"""Inverses in a prime field, each by one thread: a binary GCD whose steps are chosen by single words.

Pornin, "Optimized Binary GCD for Modular Inversion", 2020 (https://eprint.iacr.org/2020/972), as in
`kernels.cpu.inversion`: the 33 highest bits and the 31 lowest tell what the next 31 steps are; they are
gathered as four factors, by which the whole numbers are then multiplied at once.
"""

from typing import Any

from numba import int64, uint64

from kernels.cuda import field as f
from kernels.cuda.launch import SIMULATED, device
from kernels.cuda.ptx_inverse import STEPS
from kernels.fields import Field

LOW_MASK = (1 << STEPS) - 1
BOTH_OFFSETS = LOW_MASK << 32 | LOW_MASK  # makes both factors in a word positive


def inverse(F: Any, a: Any) -> Any:
    """1/a for an element of a `Field` or `QuadraticField`; 0 for 0. To be called from kernels."""
    return (_prime_inverse if isinstance(F, Field) else _quadratic_inverse)(F, a)


@device
def _quadratic_inverse(F: Any, a: Any) -> Any:
    """(a0 − a1·u)/(a0² + a1²)."""
    norm = f.add(F.base, f.square(F.base, a[0]), f.square(F.base, a[1]))
    factor = _prime_inverse(F.base, norm)
    minus_a1 = f.sub(F.base, f.zero(F.base), a[1])
    return f.mul(F.base, a[0], factor), f.mul(F.base, minus_a1, factor)


@device
def _prime_inverse(F: Any, a: Any) -> Any:
    """1/a, in Montgomery form as a is; 0 for 0.

    Keeps u = a·b/R² and v = a·c/R² modulo the modulus, while (u, v) goes from (a, modulus) to (0, 1).
    """
    u, v, b, c = a, f.modulus(F), f.r_squared(F), f.zero(F)
    while not f.is_zero(F, u):
        x, y = f.approximate(F, u, v)
        of_u, of_v = _choose_steps(x, y)
        next_u, next_b = _step(F, u, v, b, c, of_u)
        v, c = _step(F, u, v, b, c, of_v)
        u, b = next_u, next_b
    return c


@device
def _choose_steps(x: Any, y: Any) -> Any:
    """Takes steps on words x and y: (f, g) with 2^31·x' = f·x + g·y as f + 2^32·g, and those of y'."""
    of_x, of_y = uint64(1), uint64(1 << 32)
    for _ in range(STEPS):
        is_odd = x & uint64(1) != uint64(0)
        if is_odd and x < y:
            x, y = y, x
            of_x, of_y = of_y, of_x
        if is_odd:
            x = uint64(x - y)
            of_x = uint64(of_x - of_y)
        x = uint64(x >> uint64(1))
        of_y = uint64(of_y << uint64(1))
    return of_x, of_y


@device
def _step(F: Any, u: Any, v: Any, b: Any, c: Any, factors: Any) -> Any:
    """(|f·u + g·v|/2^31, ±(f·b + g·c)/2^31 with the same sign turned)."""
    positive = uint64(factors + uint64(BOTH_OFFSETS))
    first = int64(positive & uint64(0xFFFFFFFF)) - LOW_MASK
    second = int64(positive >> uint64(32)) - LOW_MASK
    size, is_negative = f.combine(F, u, v, first, second)
    if is_negative:
        first, second = -first, -second
    return size, f.combine_modulo(F, b, c, first, second)


if not SIMULATED:
    from numba.cuda.extending import overload

    from kernels.cuda.tokens import QuadraticFieldType

    @overload(inverse)
    def _overload_inverse(F, a):  # type: ignore[no-untyped-def]  # noqa: ARG001 — numba compares signatures
        if isinstance(F, QuadraticFieldType):
            return lambda F, a: _quadratic_inverse(F, a)
        return lambda F, a: _prime_inverse(F, a)
