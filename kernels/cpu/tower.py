"""The target field of the pairings, Fq12 = Fq2[w]/(w⁶ − ξ).

With v = w² and Fq6 = Fq2[v]/(v³ − ξ) this is the usual tower Fq6[w]/(w² − v): coefficient k of w^k is
coefficient ⌊k/2⌋ of v in the tower's half k mod 2. An element is an array (6, 2, L), Montgomery. Kernels
loop over coefficients in memory, which keeps them small to compile; `Fq12` lets formulas read as in papers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Self

import numpy as np
from numba import njit

from kernels.cpu.formulas import Row, formula
from kernels.encoding import Limbs, to_montgomery_limbs
from kernels.fields import Curve, Fq2Int


@formula
def copy(out: Row, a: Row) -> None:
    out[0] = a[0]


@formula
def add_product(total: Row, a: Row, b: Row) -> None:
    total[0] = total[0] + a[0] * b[0]


@formula
def _add_product_twice(total: Row, a: Row, b: Row) -> None:
    total[0] = total[0] + (a[0] * b[0]).double()


@formula
def reduce(out: Row, sums: Row, xi: Row) -> None:
    """out = low + high·ξ of the two sums, which then are zero again."""
    out[0] = sums[0] + sums[1] * xi[0]
    sums[0] = sums[1] = sums[0].constant(0)


@njit(cache=True, nogil=True)
def multiply_into(F: Any, out: Any, a: Any, b: Any, sums: Any, xi: Any) -> None:
    """out = a·b by the schoolbook; out is neither a nor b. sums: two elements, zero before and after."""
    for k in range(6):
        for i in range(6):
            if i <= k:
                add_product(F, sums, 0, a, i, b, k - i)
            else:
                add_product(F, sums, 1, a, i, b, k - i + 6)
        reduce(F, out, k, sums, 0, xi, 0)


@njit(cache=True, nogil=True)
def square_into(F: Any, out: Any, a: Any, sums: Any, xi: Any) -> None:
    """out = a² with the product of two different coefficients taken once; out is not a."""
    for k in range(6):
        for i in range(6):
            j, high = (k - i, 0) if i <= k else (k - i + 6, 1)
            if i == j:
                add_product(F, sums, high, a, i, a, i)
            elif i < j:
                _add_product_twice(F, sums, high, a, i, a, j)
        reduce(F, out, k, sums, 0, xi, 0)


@formula
def _cyclotomic_square(out: Row, a: Row, xi: Row) -> None:
    """out = a² for a of order dividing q⁴ − q² + 1; out is not a.

    Granger, Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions", 2010: over
    Fq4 = Fq2[s]/(s² − ξ) with s = w³, (A + B·w + C·w²)² = (3A² − 2Ā) + (3sC² + 2B̄)·w + (3B² − 2C̄)·w².
    """
    squares = []
    for part in range(3):
        x, y = a[part], a[part + 3]
        squares.append((x.square() + y.square() * xi[0], (x * y).double()))
    (a0, a3), (b0, b3), (c0, c3) = squares
    for part, constant, by_s in ((0, a0, a3), (2, b0, b3)):
        out[part] = (constant - a[part]).double() + constant
        out[part + 3] = (by_s + a[part + 3]).double() + by_s
    constant = c3 * xi[0]
    out[1] = (constant + a[1]).double() + constant
    out[4] = (c0 - a[4]).double() + c0


@formula
def _frobenius(a: Row, gamma: Row) -> None:
    a[0] = a[0].conjugate() * gamma[0]


@njit(cache=True, nogil=True)
def _frobenius_into(F: Any, out: Any, a: Any, gamma: Any, times: int) -> None:
    """out = a^(q^times): coefficients are conjugated and multiplied by ξ^(k·(q−1)/6), `times` times."""
    for k in range(6):
        copy(F, out, k, a, k)
        for _ in range(times):
            _frobenius(F, out, k, gamma, k)


@formula
def _invert_norm(out: Row, a: Row, xi: Row) -> None:
    """out = 1/a for a = c0 + c1·v + c2·v² in Fq6, whose odd powers of w are zero.

    Beuchat and others, "High-speed software implementation of the optimal ate pairing over Barreto-Naehrig
    curves", 2010, algorithm 17.
    """
    c0, c1, c2 = a[0], a[2], a[4]
    t0 = c0.square() - c1 * c2 * xi[0]
    t1 = c2.square() * xi[0] - c0 * c1
    t2 = c1.square() - c0 * c2
    scale = (c0 * t0 + (c2 * t1 + c1 * t2) * xi[0]).inverse()
    out[0], out[2], out[4] = t0 * scale, t1 * scale, t2 * scale
    out[1] = out[3] = out[5] = c0.constant(0)


@njit(cache=True, nogil=True)
def _invert_norm_into(F: Any, out: Any, a: Any, xi: Any) -> None:
    _invert_norm(F, out, 0, a, 0, xi, 0)


@njit(cache=True, nogil=True)
def _unitary_power_into(
    F: Any, out: Any, a: Any, inverse_a: Any, digits: Any, squared: Any, sums: Any, xi: Any
) -> None:
    """out *= a^e for a in the cyclotomic subgroup; e as signed binary digits, highest first; out is one."""
    for digit in digits:
        _cyclotomic_square(F, squared, 0, out, 0, xi, 0)
        if digit > 0:
            multiply_into(F, out, squared, a, sums, xi)
        elif digit < 0:
            multiply_into(F, out, squared, inverse_a, sums, xi)
        else:
            for k in range(6):
                copy(F, out, k, squared, k)


def non_adjacent_form(value: int) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Signed binary digits of an integer, highest first, no two neighbours of them nonzero."""
    sign, value, digits = (1 if value >= 0 else -1), abs(value), []
    while value:
        digit = 2 - value % 4 if value % 2 else 0
        digits.append(sign * digit)
        value = (value - digit) // 2
    return np.array(digits[::-1], np.int8)


def multiply_fq2(a: Fq2Int, b: Fq2Int, modulus: int) -> Fq2Int:
    return (a[0] * b[0] - a[1] * b[1]) % modulus, (a[0] * b[1] + a[1] * b[0]) % modulus


def power_fq2(a: Fq2Int, exponent: int, modulus: int) -> Fq2Int:
    """a^exponent for a non-negative exponent, in Python integers."""
    result: Fq2Int = (1, 0)
    for bit in bin(exponent)[2:]:
        result = multiply_fq2(result, result, modulus)
        if bit == "1":
            result = multiply_fq2(result, a, modulus)
    return result


@lru_cache
def non_residue(curve: Curve) -> Limbs:
    """ξ as (1, 2, L)."""
    return to_montgomery_limbs(curve.fq2, [curve.fq6_non_residue])


@lru_cache
def frobenius_factors(curve: Curve) -> Limbs:
    """ξ^(k·(q−1)/6) for k = 0…5 as (6, 2, L): w^q = ξ^((q−1)/6)·w."""
    q = curve.fq.modulus
    powers = [power_fq2(curve.fq6_non_residue, k * (q - 1) // 6, q) for k in range(6)]
    return to_montgomery_limbs(curve.fq2, powers)


class Fq12:
    """An immutable element of a curve's Fq12; `coefficients` is (6, 2, L), Montgomery."""

    __slots__ = ("coefficients", "curve")

    def __init__(self, curve: Curve, coefficients: Limbs) -> None:
        self.curve = curve
        self.coefficients = coefficients

    def _apply(self, kernel: Any, *arguments: Any) -> Self:
        out = np.empty_like(self.coefficients)
        kernel(self.curve.fq2, out, self.coefficients, *arguments)
        return type(self)(self.curve, out)

    def _sums(self) -> Limbs:
        return np.zeros_like(self.coefficients[:2])

    def __mul__(self, other: Self) -> Self:
        return self._apply(multiply_into, other.coefficients, self._sums(), non_residue(self.curve))

    def inverse(self) -> Self:
        """1/self, and zero for zero: ā/(a·ā) with ā = a(−w), where a·ā lies in Fq6."""
        conjugate = self.conjugate()
        return conjugate * (self * conjugate)._apply(_invert_norm_into, non_residue(self.curve))

    def frobenius(self, times: int = 1) -> Self:
        """self^(q^times)."""
        return self._apply(_frobenius_into, frobenius_factors(self.curve), times)

    def conjugate(self) -> Self:
        """self^(q⁶), self with −w for w; the inverse in the cyclotomic subgroup."""
        return self.frobenius(6)

    def unitary_power(self, exponent: int) -> Self:
        """self^exponent, any integer, for an element of the cyclotomic subgroup only."""
        out = one(self.curve)
        inverse_self = self.conjugate().coefficients
        scratch = np.empty_like(self.coefficients), self._sums(), non_residue(self.curve)
        digits = non_adjacent_form(exponent)
        _unitary_power_into(
            self.curve.fq2, out.coefficients, self.coefficients, inverse_self, digits, *scratch
        )
        return type(self)(self.curve, out.coefficients)

    def is_one(self) -> bool:
        return np.array_equal(self.coefficients, one(self.curve).coefficients)


def one(curve: Curve) -> Fq12:
    coefficients = np.zeros((6, 2, curve.fq.limbs), np.uint64)
    coefficients[0, 0] = to_montgomery_limbs(curve.fq, [1])
    return Fq12(curve, coefficients)
