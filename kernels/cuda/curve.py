"""Points of y² = x³ + b over a field F, which is Fq for G1 and Fq2 for G2, in registers.

Affine points lie in memory as x, y (all zeros: infinity). Sums are kept in XYZZ coordinates, X, Y, ZZ, ZZZ
with x = X/ZZ, y = Y/ZZZ and ZZ³ = ZZZ²; ZZ = 0 is infinity. Formulas:
https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html, completed by the cases that they leave out (infinity,
equal and opposite points). None of them uses b, so they hold off the subgroup too.
"""

from typing import Any

from kernels.cuda import field as f
from kernels.cuda.launch import device


@device
def infinity(F: Any) -> Any:
    return f.zero(F), f.zero(F), f.zero(F), f.zero(F)


@device
def load_point(F: Any, array: Any, i: int) -> Any:
    """XYZZ point i of an array."""
    return (
        f.load(F, array, 4 * i),
        f.load(F, array, 4 * i + 1),
        f.load(F, array, 4 * i + 2),
        f.load(F, array, 4 * i + 3),
    )


@device
def store_point(F: Any, array: Any, i: int, point: Any) -> None:
    """Sets XYZZ point i of an array."""
    f.store(F, array, 4 * i, point[0])
    f.store(F, array, 4 * i + 1, point[1])
    f.store(F, array, 4 * i + 2, point[2])
    f.store(F, array, 4 * i + 3, point[3])


@device
def double(F: Any, a: Any) -> Any:
    """2·a (dbl-2008-s-1). Infinity stays: ZZ = 0 makes the result's ZZ zero."""
    x, y, zz, zzz = a
    u = f.add(F, y, y)
    v = f.square(F, u)
    w = f.mul(F, u, v)
    s = f.mul(F, x, v)
    xx = f.square(F, x)
    m = f.add(F, f.add(F, xx, xx), xx)
    x3 = f.sub(F, f.sub(F, f.square(F, m), s), s)
    y3 = f.product_difference(F, m, f.sub(F, s, x3), w, y)
    return x3, y3, f.mul(F, v, zz), f.mul(F, w, zzz)


@device
def add_affine(F: Any, a: Any, x2: Any, y2: Any) -> Any:
    """a + (x2, y2), XYZZ plus affine (madd-2008-s)."""
    x, y, zz, zzz = a
    if f.is_zero(F, x2) and f.is_zero(F, y2):
        return a
    if f.is_zero(F, zz):
        return x2, y2, f.one(F), f.one(F)
    p = f.sub(F, f.mul_often(F, x2, zz), x)
    r = f.sub(F, f.mul_often(F, y2, zzz), y)
    if f.is_zero(F, p) and f.is_zero(F, r):
        return double(F, a)
    return _finish(F, x, y, zz, zzz, p, r)


@device
def add(F: Any, a: Any, b: Any) -> Any:
    """a + b, both XYZZ (add-2008-s)."""
    if f.is_zero(F, b[2]):
        return a
    if f.is_zero(F, a[2]):
        return b
    x, y = f.mul_often(F, a[0], b[2]), f.mul_often(F, a[1], b[3])
    p = f.sub(F, f.mul_often(F, b[0], a[2]), x)
    r = f.sub(F, f.mul_often(F, b[1], a[3]), y)
    if f.is_zero(F, p) and f.is_zero(F, r):
        return double(F, a)
    return _finish(F, x, y, f.mul_often(F, a[2], b[2]), f.mul_often(F, a[3], b[3]), p, r)


@device
def _finish(F: Any, x: Any, y: Any, zz: Any, zzz: Any, p: Any, r: Any) -> Any:
    """The common end of both additions; p and r are the differences of the x and y brought over ZZ and ZZZ.

    Opposite points have p = 0, which makes ZZ zero: infinity, as it should be.
    """
    pp = f.square_often(F, p)
    ppp = f.mul_often(F, p, pp)
    q = f.mul_often(F, x, pp)
    x3 = f.sub(F, f.sub(F, f.sub(F, f.square_often(F, r), ppp), q), q)
    y3 = f.product_difference_often(F, r, f.sub(F, q, x3), y, ppp)
    return x3, y3, f.mul_often(F, zz, pp), f.mul_often(F, zzz, ppp)
