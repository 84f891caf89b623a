"""`kernels.cuda.field` for numba's simulator: an element is the number that its words make up, or a pair."""

from functools import cache
from typing import Any

from numpy import uint64

from kernels.fields import Field, QuadraticField

AnyField = Field | QuadraticField
Element = Any  # int, or over a QuadraticField a pair of them


@cache
def _inverse_of_r(F: Field) -> int:
    return pow(F.montgomery_one, -1, F.modulus)


def _pairwise(name: str, F: QuadraticField, a: Element, b: Element) -> Element:
    operation = {"add": add, "sub": sub}[name]
    return operation(F.base, a[0], b[0]), operation(F.base, a[1], b[1])


def add(F: AnyField, a: Element, b: Element) -> Element:
    return (a + b) % F.modulus if isinstance(F, Field) else _pairwise("add", F, a, b)


def sub(F: AnyField, a: Element, b: Element) -> Element:
    return (a - b) % F.modulus if isinstance(F, Field) else _pairwise("sub", F, a, b)


def mul(F: AnyField, a: Element, b: Element) -> Element:
    if isinstance(F, Field):
        return a * b * _inverse_of_r(F) % F.modulus
    low, high = mul(F.base, a[0], b[0]), mul(F.base, a[1], b[1])
    return sub(F.base, low, high), add(F.base, mul(F.base, a[0], b[1]), mul(F.base, a[1], b[0]))


def square(F: AnyField, a: Element) -> Element:
    return mul(F, a, a)


def product_difference(F: AnyField, a: Element, b: Element, c: Element, d: Element) -> Element:
    return sub(F, mul(F, a, b), mul(F, c, d))


mul_often, square_often, product_difference_often = mul, square, product_difference


def is_zero(F: AnyField, a: Element) -> bool:
    return bool(a == zero(F))


def _constant(F: AnyField, value: int) -> Element:
    return value if isinstance(F, Field) else (value, 0)


def zero(F: AnyField) -> Element:
    return _constant(F, 0)


def one(F: AnyField) -> Element:
    return _constant(F, (F if isinstance(F, Field) else F.base).montgomery_one)


def plain_one(F: AnyField) -> Element:
    return _constant(F, 1)


def r_squared(F: AnyField) -> Element:
    return _constant(F, (F if isinstance(F, Field) else F.base).montgomery_r2)


def modulus(F: Field) -> Element:
    return F.modulus


def approximate(F: Field, u: Element, v: Element) -> tuple[Any, Any]:  # noqa: ARG001 — as compiled
    shift = max(31, max(u, v).bit_length() - 33)
    low = (1 << 31) - 1
    return uint64(u >> shift << 31 | u & low), uint64(v >> shift << 31 | v & low)


def combine(F: Field, u: Element, v: Element, f: int, g: int) -> tuple[Element, bool]:  # noqa: ARG001
    total = int(f) * u + int(g) * v
    return abs(total >> 31), total < 0


def combine_modulo(F: Field, b: Element, c: Element, f: int, g: int) -> Element:
    return (int(f) * b + int(g) * c) * pow(2, -31, F.modulus) % F.modulus


def select(F: AnyField, condition: bool, a: Element, b: Element) -> Element:  # noqa: ARG001 — as compiled
    return a if condition else b


def load(F: AnyField, array: Any, i: int) -> Element:
    if isinstance(F, QuadraticField):
        return load(F.base, array, 2 * i), load(F.base, array, 2 * i + 1)
    flat = _flat(array)
    return sum(int(flat[F.limbs * i + k]) << 64 * k for k in range(F.limbs))


def store(F: AnyField, array: Any, i: int, value: Element) -> None:
    if isinstance(F, QuadraticField):
        store(F.base, array, 2 * i, value[0])
        store(F.base, array, 2 * i + 1, value[1])
        return
    flat = _flat(array)
    for k in range(F.limbs):
        flat[F.limbs * i + k] = value >> 64 * k & (1 << 64) - 1


def load_plane(F: Field, array: Any, i: int, n: int) -> Element:
    return sum(int(array[2 * (k // 2 * n + i) + k % 2]) << 64 * k for k in range(F.limbs))


def store_plane(F: Field, array: Any, i: int, n: int, value: Element) -> None:
    for k in range(F.limbs):
        array[2 * (k // 2 * n + i) + k % 2] = value >> 64 * k & (1 << 64) - 1


def _flat(array: Any) -> Any:
    return array.reshape(-1)
