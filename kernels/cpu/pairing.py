"""The product check of the optimal ate pairing (Vercauteren, "Optimal pairings", 2010), on both curves.

f = Π f_{loop,Q}(P) is computed by Miller's algorithm with one squaring a step for all pairs, then raised to
a multiple of (q¹² − 1)/r that is prime to r. Only whether the product is one is asked, so factors that the
final power kills, and the sign of the loop, are left out.

G2 lies on a sextic twist: (x, y) stands for (x·w², y·w³) on the curve over Fq12 for a twist of type D
(BN254) and for (x/w², y/w³) for one of type M (BLS12-381). A line through such points with slope λ (on the
twist) is, at P and up to a factor that the final power kills,
    D: y_P − λ·x_P·w + (λ·x − y)·w³        M: (λ·x − y) − λ·x_P·w² + y_P·w³
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu.formulas import Element, Row, formula
from kernels.cpu.tower import (
    Fq12,
    add_product,
    copy,
    multiply_fq2,
    non_adjacent_form,
    non_residue,
    one,
    power_fq2,
    reduce,
    square_into,
)
from kernels.encoding import Limbs, decode_points, to_montgomery_limbs
from kernels.fields import Curve, Fq2Int

DOUBLE = 0  # a step of a Miller loop; a positive number k adds the pair's addend k − 1


def _set_line(line: Row, p: Row, y_factor: Element, x_factor: Element, constant: Element) -> None:
    """line = y_factor·y_P, −x_factor·x_P, constant; p holds x_P and y_P over the base field."""
    p = p.over_base()
    line[0], line[1], line[2] = y_factor.scaled(p[1]), x_factor.scaled(-p[0]), constant


@formula
def _start(t: Row, q: Row) -> None:
    t[0], t[1], t[2] = q[0], q[1], q[0].one()


@formula
def _double_step(t: Row, line: Row, p: Row) -> None:
    """t = 2·t in Jacobian coordinates (dbl-2009-l) and the tangent at the old t, times 2YZ³.

    https://hyperelliptic.org/EFD/g1p/auto-shortw-jacobian-0.html
    """
    x, y, z = t[0], t[1], t[2]
    xx, yy, zz = x.square(), y.square(), z.square()
    yyyy = yy.square()
    d = ((x + yy).square() - xx - yyyy).double()
    e = xx.double() + xx
    x3 = e.square() - d.double()
    z3 = (y * z).double()
    t[0], t[1], t[2] = x3, e * (d - x3) - yyyy.double().double().double(), z3
    _set_line(line, p, z3 * zz, e * zz, e * x - yy.double())


@formula
def _add_step(t: Row, line: Row, p: Row, q: Row) -> None:
    """t += q (madd, q affine) and the line through both, times the new Z.

    The points of a Miller loop are multiples of Q below the order, so they are never equal nor opposite.
    """
    x, y, z, xq, yq = t[0], t[1], t[2], q[0], q[1]
    zz = z.square()
    h = xq * zz - x
    r = yq * (zz * z) - y
    hh = h.square()
    hhh = h * hh
    v = x * hh
    x3 = r.square() - hhh - v.double()
    z3 = z * h
    t[0], t[1], t[2] = x3, r * (v - x3) - y * hhh, z3
    _set_line(line, p, z3, r, r * xq - z3 * yq)


@njit(cache=True, nogil=True)
def _multiply_by_line(F: Any, f: Any, line: Any, places: Any, scratch: Any, sums: Any, xi: Any) -> None:
    """f *= Σ line[m]·w^places[m]."""
    for k in range(6):
        for m in range(3):
            i = k - places[m]
            if i >= 0:
                add_product(F, sums, 0, f, i, line, m)
            else:
                add_product(F, sums, 1, f, i + 6, line, m)
        reduce(F, scratch, k, sums, 0, xi, 0)
    for k in range(6):
        copy(F, f, k, scratch, k)


@njit(cache=True, nogil=True)
def _miller_loop(F: Any, f: Any, p: Any, addends: Any, steps: Any, places: Any, work: Any) -> None:
    """f *= Π f(Q_i, P_i), f being one.

    p is (n, 2, L), addends (n, m, 2, 2, L) with Q_i the first of each pair's; work: elements of Fq2 for the
    running points (3n), a line (3), a product (6), two sums that are zero, and ξ.
    """
    t, line, scratch, sums, xi = work
    n, m = addends.shape[0], addends.shape[1]
    for pair in range(n):
        _start(F, t, 3 * pair, addends, 2 * m * pair)
    for step in steps:
        if step == DOUBLE:
            square_into(F, scratch, f, sums, xi)
            for k in range(6):
                copy(F, f, k, scratch, k)
        for pair in range(n):
            if step == DOUBLE:
                _double_step(F, t, 3 * pair, line, 0, p, pair)
            else:
                _add_step(F, t, 3 * pair, line, 0, p, pair, addends, 2 * (m * pair + step - 1))
            _multiply_by_line(F, f, line, places, scratch, sums, xi)


@lru_cache
def _steps(curve: Curve) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The Miller loop's steps: 1 adds Q, 2 adds −Q; on a BN curve 3 and 4 add π(Q) and −π²(Q) at the end."""
    steps: list[int] = []
    for digit in non_adjacent_form(abs(curve.ate_loop))[1:]:
        steps += [DOUBLE] if digit == 0 else [DOUBLE, 1 if digit > 0 else 2]
    return np.array(steps + ([3, 4] if curve.twist == "D" else []), np.int64)


def _addends(curve: Curve, q: tuple[Fq2Int, Fq2Int]) -> list[Fq2Int]:
    """Q, −Q and, for a BN curve, π(Q) and −π²(Q): their x and y in turn, canonical integers.

    π is the Frobenius map seen on the twist: (x̄·ξ^((q−1)/3), ȳ·ξ^((q−1)/2)) for type D.
    """
    modulus = curve.fq.modulus
    x, y = q
    coordinates = [x, y, x, _negative(y)]
    if curve.twist == "D":
        x1, y1 = _twisted_frobenius(curve, x, y)
        x2, y2 = _twisted_frobenius(curve, x1, y1)
        coordinates += [x1, y1, x2, _negative(y2)]
    return [(c0 % modulus, c1 % modulus) for c0, c1 in coordinates]


def _negative(element: Fq2Int) -> Fq2Int:
    return -element[0], -element[1]


def _twisted_frobenius(curve: Curve, x: Fq2Int, y: Fq2Int) -> tuple[Fq2Int, Fq2Int]:
    x_factor, y_factor = _twisted_frobenius_factors(curve)
    modulus = curve.fq.modulus
    return (
        multiply_fq2((x[0], -x[1]), x_factor, modulus),
        multiply_fq2((y[0], -y[1]), y_factor, modulus),
    )


@lru_cache
def _twisted_frobenius_factors(curve: Curve) -> tuple[Fq2Int, Fq2Int]:
    q = curve.fq.modulus
    return power_fq2(curve.fq6_non_residue, (q - 1) // 3, q), power_fq2(
        curve.fq6_non_residue, (q - 1) // 2, q
    )


def miller_loop(curve: Curve, g1: Limbs, g2: Limbs) -> Fq12:
    """Π f(Q_i, P_i) for finite points g1 (k, 2, L) and g2 (k, 2, 2, L)."""
    limbs = curve.fq.limbs
    coordinates = [c for q in decode_points(curve.g2, g2) if q for c in _addends(curve, q)]
    addends = to_montgomery_limbs(curve.fq2, coordinates).reshape(len(g2), -1, 2, 2, limbs)
    places = np.array((0, 1, 3) if curve.twist == "D" else (3, 2, 0), np.int64)
    f, p = one(curve), np.array(g1, np.uint64, order="C")
    t, line, scratch, sums = (np.zeros((size, 2, limbs), np.uint64) for size in (3 * len(p), 3, 6, 2))
    work = t, line, scratch, sums, non_residue(curve)
    _miller_loop(curve.fq2, f.coefficients, p, addends, _steps(curve), places, work)
    return f


def final_exponentiation(f: Fq12) -> Fq12:
    """f^(m·(q¹² − 1)/r) for an m prime to r: (q⁶ − 1)(q² + 1), then a multiple of (q⁴ − q² + 1)/r."""
    f = f.conjugate() * f.inverse()
    f = f.frobenius(2) * f
    return _hard_part_bn(f) if f.curve.twist == "D" else _hard_part_bls(f)


def _hard_part_bn(f: Fq12) -> Fq12:
    """Σ λ_i·q^i of Fuentes-Castañeda, Knapp, Rodríguez-Henríquez, "Faster hashing to G2", 2011.

    λ_1 = 12x³ + 6x² + 4x, λ_2 = λ_1 + 2x, λ_0 = λ_2 + 6x² + 1, λ_3 = λ_1 − 1.
    """
    x = f.curve.x
    f_2x = (f * f).unitary_power(x)
    f_6x2 = (f_2x * f_2x * f_2x).unitary_power(x)
    f_12x3 = (f_6x2 * f_6x2).unitary_power(x)
    f_1 = f_12x3 * f_6x2 * f_2x * f_2x
    f_2 = f_1 * f_2x
    f_0 = f_2 * f_6x2 * f
    f_3 = f_1 * f.conjugate()
    return f_0 * f_1.frobenius() * f_2.frobenius(2) * f_3.frobenius(3)


def _hard_part_bls(f: Fq12) -> Fq12:
    """(x − 1)²(x + q)(x² + q² − 1) + 3, three times (q⁴ − q² + 1)/r.

    Hayashida, Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic structure for pairings over
    families of elliptic curves", 2020 (https://eprint.iacr.org/2020/875).
    """
    x = f.curve.x
    y = f.unitary_power(x - 1).unitary_power(x - 1)
    y = y.unitary_power(x) * y.frobenius()
    y = y.unitary_power(x).unitary_power(x) * y.frobenius(2) * y.conjugate()
    return y * f * f * f


def pairing_product_is_one(curve: Curve, g1: Limbs, g2: Limbs) -> bool:
    """Whether Π e(g1[i], g2[i]) = 1.

    g1: (k, 2, L), g2: (k, 2, 2, L), affine, Montgomery, on the curve and in the subgroup (not checked here).
    Pairs with infinity (all zeros) contribute one. Raises ValueError for other shapes.
    """
    k = len(g1)
    if g1.shape != (k, *curve.g1.point_shape) or g2.shape != (k, *curve.g2.point_shape):
        raise ValueError(
            f"points have shapes {g1.shape} and {g2.shape}, expected "
            f"{(k, *curve.g1.point_shape)} and {(k, *curve.g2.point_shape)}"
        )
    finite = g1.any(axis=(1, 2)) & g2.any(axis=(1, 2, 3))
    if not finite.any():
        return True
    return final_exponentiation(miller_loop(curve, g1[finite], g2[finite])).is_one()
