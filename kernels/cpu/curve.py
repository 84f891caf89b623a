"""Points of y² = x³ + b over a field F, which is Fq for G1 and Fq2 for G2: one source for all four groups.

Affine points lie in memory as x, y (all zeros: infinity). Sums are kept in XYZZ coordinates, X, Y, ZZ, ZZZ
with x = X/ZZ, y = Y/ZZZ and ZZ³ = ZZZ²; ZZ = 0 is infinity. Formulas:
https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html, completed by the cases that they leave out (infinity,
equal and opposite points). None of them uses b, so they hold off the subgroup too. All coordinates are in
Montgomery form.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.cpu.field import is_zero, load
from kernels.cpu.formulas import Element, Flag, Row, formula
from kernels.encoding import Limbs, ints_to_limbs, limbs_to_ints, to_montgomery_limbs
from kernels.fields import Field, Group, QuadraticField


def _double(a: Row) -> None:
    """a = 2·a, XYZZ (dbl-2008-s-1). Infinity stays: ZZ = 0 makes the result's ZZ zero."""
    x, y = a[0], a[1]
    u = y.double()
    v = u.square()
    w = u * v
    s = x * v
    xx = x.square()
    m = xx.double() + xx
    x3 = m.square() - s.double()
    a[0], a[1] = x3, m * (s - x3) - w * y
    a[2], a[3] = v * a[2], w * a[3]


double_at = formula(_double)


def _set_sum(a: Row, x: Element, y: Element, zz: Element, zzz: Element, p: Element, r: Element) -> None:
    """The common end of both additions; p and r are the differences of the x and y brought over ZZ and ZZZ.

    Opposite points have p = 0, which makes ZZ zero: infinity, as it should be.
    """
    with a.when(p.is_zero(), r.is_zero()):
        a.apply(_double)
    pp = p.square()
    ppp = p * pp
    q = x * pp
    x3 = r.square() - ppp - q.double()
    a[0], a[1] = x3, r * (q - x3) - y * ppp
    a[2], a[3] = zz * pp, zzz * ppp


@formula
def add_affine_at(a: Row, q: Row, negative: Flag) -> None:
    """a += q, or a −= q where `negative` is set; a is XYZZ, q affine (madd-2008-s)."""
    x2, y2 = q[0], q[1].negative_if(negative)
    with a.when(x2.is_zero(), y2.is_zero()):
        pass
    zz, zzz = a[2], a[3]
    with a.when(zz.is_zero()):
        a[0], a[1], a[2], a[3] = x2, y2, zz.one(), zz.one()
    x, y = a[0], a[1]
    _set_sum(a, x, y, zz, zzz, x2 * zz - x, y2 * zzz - y)


@formula
def add_at(a: Row, b: Row) -> None:
    """a += b, both XYZZ (add-2008-s)."""
    zz, zzz = b[2], b[3]
    with a.when(zz.is_zero()):
        pass
    with a.when(a[2].is_zero()):
        a[0], a[1], a[2], a[3] = b[0], b[1], zz, zzz
    x, y = a[0] * zz, a[1] * zzz
    p, r = b[0] * a[2] - x, b[1] * a[3] - y
    _set_sum(a, x, y, a[2] * zz, a[3] * zzz, p, r)


@formula
def _to_affine(out: Row, a: Row) -> None:
    """out = a, XYZZ to affine."""
    zz, zzz = a[2], a[3]
    with a.when(zz.is_zero()):
        out[0] = out[1] = zz
    zzz_inverse = zzz.inverse()
    z_inverse = zzz_inverse * zz
    out[0], out[1] = a[0] * z_inverse.square(), a[1] * zzz_inverse


@njit(cache=True, nogil=True)
def _fold(F: Any, out: Any, rows: Any, group_size: int, shift: int, total: Any) -> None:
    for k in range(rows.shape[0] // 4):
        i = rows.shape[0] // 4 - 1 - k
        if k % group_size == 0:
            for _ in range(shift):
                double_at(F, total, 0)
        add_at(F, total, 0, rows, 4 * i)
    _to_affine(F, out, 0, total, 0)


@formula
def _curve_gap(gap: Row, q: Row, b: Row) -> None:
    """gap = x³ + b − y², or 0 for infinity."""
    x, y = q[0], q[1]
    with gap.when(x.is_zero(), y.is_zero()):
        gap[0] = x
    gap[0] = x.square() * x + b[0] - y.square()


@njit(cache=True, nogil=True)
def _first_not_on_curve(F: Any, points: Any, b: Any, gap: Any, start: int, stop: int) -> int:
    for i in range(start, stop):
        _curve_gap(F, gap, 0, points, 2 * i, b, 0)
        if not is_zero(F, load(F, gap, 0)):
            return i
    return -1


def read_only_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The same memory as flat, read-only bytes, for a kernel that only reads it.

    numba compiles anew for each array type, and read-only, unaligned (a file's section at an odd offset) and
    ordinary arrays are three. Their bytes are one. Raises ValueError unless the array is C-contiguous.
    """
    if not array.flags.c_contiguous:
        raise ValueError("a kernel reads C-contiguous arrays; copy this one with np.ascontiguousarray first")
    flat = np.asarray(array).reshape(-1).view(np.uint8)
    flat.flags.writeable = False
    return flat


def element_words(field: Field | QuadraticField) -> int:
    """64-bit words of one element."""
    return field.limbs if isinstance(field, Field) else 2 * field.base.limbs


def one_words(field: Field | QuadraticField) -> Limbs:
    """The field's one as (words,)."""
    base = field if isinstance(field, Field) else field.base
    words = np.zeros(element_words(field), np.uint64)
    words[: base.limbs] = ints_to_limbs([base.montgomery_one], base.limbs)
    return words


def lift(G: Group, points: Limbs) -> Limbs:
    """Affine (n, *G.point_shape) -> XYZZ (4n, words), ZZ = ZZZ = 1 or, for infinity, 0."""
    flat = points.reshape(-1, 2, element_words(G.field))
    rows = np.zeros((len(flat), 4, flat.shape[2]), np.uint64)
    rows[:, :2] = flat
    rows[flat.any(axis=(1, 2)), 2:] = one_words(G.field)
    return rows.reshape(-1, flat.shape[2])


def fold(G: Group, rows: Limbs, group_size: int, shift: int) -> Limbs:
    """Σ_g 2^(shift·g) · (sum of group g) as an affine point of G.point_shape.

    rows: XYZZ points (4n, words), each `group_size` in a row a group.
    """
    words = element_words(G.field)
    out, total = np.zeros((2, words), np.uint64), np.zeros((4, words), np.uint64)
    _fold(G.field, out, rows, group_size, shift, total)
    return out.reshape(G.point_shape)


def add_points(G: Group, p: Limbs, q: Limbs) -> Limbs:
    """p + q, affine points of G.point_shape."""
    return fold(G, lift(G, np.stack([p, q])), 2, 0)


def negate_point(G: Group, p: Limbs) -> Limbs:
    """−p, an affine point of G.point_shape."""
    base = G.field if isinstance(G.field, Field) else G.field.base
    negative = np.array(p)
    y = limbs_to_ints(negative[1].reshape(-1, base.limbs))
    negative[1] = ints_to_limbs((-part % base.modulus for part in y), base.limbs).reshape(p[1].shape)
    return negative


def multiply_point(G: Group, p: Limbs, scalar: int) -> Limbs:
    """scalar·p for one affine point and any integer; not reduced by the order, as p may lie off the subgroup.

    Takes time that depends on the scalar's bits.
    """
    if scalar < 0:
        return multiply_point(G, negate_point(G, p), -scalar)
    bits = np.array([scalar >> i & 1 for i in range(max(1, scalar.bit_length()))], np.uint64)
    rows = bits[:, None, None] * lift(G, p)
    return fold(G, rows.reshape(-1, rows.shape[2]), 1, 1)


def first_not_on_curve(G: Group, points: Limbs, start: int, stop: int) -> int:
    """The first index in [start, stop) of a point that is not on G's curve, or −1. Infinity is on it.

    points: (n, *G.point_shape), coordinates below the modulus (see `vectors.first_not_below_modulus`).
    """
    b = to_montgomery_limbs(G.field, [G.b]).reshape(1, -1)
    return int(_first_not_on_curve(G.field, read_only_bytes(points), b, np.empty_like(b), start, stop))


def in_subgroup(G: Group, point: Limbs) -> bool:
    """Whether an affine point is on the curve and its multiple by the order is infinity."""
    if first_not_on_curve(G, point, 0, 1) != -1:
        return False
    return not multiply_point(G, point, G.order).any()
