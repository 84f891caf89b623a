"""Points of the four groups by py_ecc and by square roots of Python integers, to check the kernels by."""

from functools import lru_cache
from itertools import count
from types import ModuleType
from typing import Any

from py_ecc import optimized_bls12_381, optimized_bn128

from kernels.encoding import (
    Limbs,
    Point,
    decode_points,
    encode_points,
    from_montgomery_ints,
    to_montgomery_limbs,
)
from kernels.fields import BLS12_381, BN254, Curve, Field, Group

CURVES = (BN254, BLS12_381)
GROUPS = tuple(group for curve in CURVES for group in (curve.g1, curve.g2))
WITH_COFACTOR = (BN254.g2, BLS12_381.g1, BLS12_381.g2)


def name(value: Any) -> str:
    return str(value.name)


def library(thing: Group | Curve) -> ModuleType:
    return optimized_bls12_381 if "BLS" in thing.name.upper() else optimized_bn128


def to_oracle(group: Group, point: Point) -> Any:
    module = library(group)
    kind = module.FQ if isinstance(group.field, Field) else module.FQ2
    if point is None:
        return (kind.one(), kind.one(), kind.zero())
    return (kind(point[0]), kind(point[1]), kind.one())


def from_oracle(group: Group, point: Any) -> Point:
    module = library(group)
    if module.is_inf(point):
        return None
    x, y = module.normalize(point)
    if isinstance(group.field, Field):
        return int(x.n), int(y.n)
    return tuple(map(int, x.coeffs)), tuple(map(int, y.coeffs))


def add(group: Group, p: Point, q: Point) -> Point:
    return from_oracle(group, library(group).add(to_oracle(group, p), to_oracle(group, q)))


def negative(group: Group, p: Point) -> Point:
    return from_oracle(group, library(group).neg(to_oracle(group, p)))


def multiply(group: Group, p: Point, scalar: int) -> Point:
    """scalar·p for scalar ≥ 0, not reduced."""
    return from_oracle(group, library(group).multiply(to_oracle(group, p), scalar))


@lru_cache
def multiples(group: Group, n: int) -> list[Point]:
    """0·G, 1·G, …, (n − 1)·G."""
    result: list[Point] = [None]
    for _ in range(n - 1):
        result.append(add(group, result[-1], group.generator))
    return result


def encoded(group: Group, point: Point) -> Limbs:
    return encode_points(group, [point])[0]


def decoded(group: Group, array: Limbs) -> Point:
    return decode_points(group, array.reshape(1, *group.point_shape))[0]


def _root(a: int, q: int) -> int | None:
    root = pow(a, (q + 1) // 4, q)  # both q are 3 modulo 4
    return root if root * root % q == a % q else None


def square_root(group: Group, a: Any) -> Any:
    """A square root in the group's field or None; over Fq2 from the norm, (c + √(c² + d²))/2 = y₀²."""
    if isinstance(group.field, Field):
        return _root(a, group.field.modulus)
    q = group.field.base.modulus
    norm_root = _root(a[0] ** 2 + a[1] ** 2, q)
    for sign in (1, -1):
        if norm_root is None:
            return None
        real = _root((a[0] + sign * norm_root) * pow(2, -1, q), q)
        if real:
            return real, a[1] * pow(2 * real, -1, q) % q
    return None


@lru_cache
def off_subgroup(group: Group) -> Point:
    """The first point on the curve, by x = 1, 2, …, that the order does not take to infinity."""
    for x in count(1):
        if isinstance(group.field, Field):
            point: Point = (x, square_root(group, x**3 + group.b))
        else:
            # (x + u)³ = x³ − 3x + (3x² − 1)·u
            cube = (x**3 - 3 * x, 3 * x**2 - 1)
            q = group.field.base.modulus
            point = (
                (x, 1),
                square_root(group, tuple((c + b) % q for c, b in zip(cube, group.b, strict=True))),
            )
        if point[1] is not None and multiply(group, point, group.order) is not None:
            return point
    raise AssertionError


def scaled_rows(group: Group, point: Point, z: Any) -> Limbs:
    """The XYZZ point (x·z², y·z³, z², z³) as (4, words); infinity with nonzero x and y for None."""
    module = library(group)
    kind = module.FQ if isinstance(group.field, Field) else module.FQ2
    z = kind(z)
    x, y, unit = (kind.one(), kind.one(), kind.zero()) if point is None else (*map(kind, point), kind.one())
    values = [x * z**2, y * z**3, unit * z**2, unit * z**3]
    prime = isinstance(group.field, Field)
    elements = [int(v.n) if prime else tuple(map(int, v.coeffs)) for v in values]
    return to_montgomery_limbs(group.field, elements).reshape(4, -1)


def to_fq12(f: Any) -> Any:
    """Our Fq12 element as py_ecc's polynomial in w: u = w⁶ − a for ξ = a + u."""
    a = f.curve.fq6_non_residue[0]
    pairs = from_montgomery_ints(f.curve.fq2, f.coefficients)
    return library(f.curve).FQ12([c0 - a * c1 for c0, c1 in pairs] + [c1 for _, c1 in pairs])
