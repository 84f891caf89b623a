"""Python integers to limb arrays and back: for keys' small parts, proofs and tests.

Limb arrays are uint64, little-endian words, C-contiguous. Field elements and points are in Montgomery
form (R = 2^(64·limbs)), fully reduced: the bytes of a `.zkey`. The point at infinity is all zeros.
Pure Python at about a microsecond an element; long vectors are converted by `kernels.cpu.vectors`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.fields import Field, Group, QuadraticField

Limbs = NDArray[np.uint64]
Element = Any  # int over a Field, (c0, c1) over a QuadraticField
Point = tuple[Any, Any] | None  # affine (x, y), each an Element; None is the point at infinity


def ints_to_limbs(values: Iterable[int], limbs: int) -> Limbs:
    """Non-negative integers below 2^(64·limbs) -> (n, limbs). Raises ValueError for one out of range."""
    try:
        text = b"".join(value.to_bytes(8 * limbs, "little") for value in values)
    except OverflowError as error:
        raise ValueError(f"a number is negative or needs more than {limbs} limbs of 64 bits") from error
    return np.frombuffer(bytearray(text), np.dtype("<u8")).reshape(-1, limbs)


def limbs_to_ints(array: Limbs) -> list[int]:
    """(n, limbs) -> n integers, whatever they mean (canonical or Montgomery)."""
    count, limbs = array.shape
    text = np.ascontiguousarray(array).tobytes()
    width = 8 * limbs
    return [int.from_bytes(text[i * width : (i + 1) * width], "little") for i in range(count)]


def to_montgomery_limbs(field: Field | QuadraticField, elements: Iterable[Element]) -> Limbs:
    """Integers (taken modulo p) -> (n, L); pairs over a quadratic field -> (n, 2, L)."""
    if isinstance(field, QuadraticField):
        flat = [part for element in elements for part in element]
        return to_montgomery_limbs(field.base, flat).reshape(-1, 2, field.base.limbs)
    shift, modulus = 64 * field.limbs, field.modulus
    return ints_to_limbs(((value << shift) % modulus for value in elements), field.limbs)


def from_montgomery_ints(field: Field | QuadraticField, array: Limbs) -> list[Element]:
    """The inverse of `to_montgomery_limbs`: canonical integers, or pairs of them."""
    if isinstance(field, QuadraticField):
        flat = from_montgomery_ints(field.base, array.reshape(-1, field.base.limbs))
        return list(zip(flat[0::2], flat[1::2], strict=True))
    inverse_r = pow(field.montgomery_one, -1, field.modulus)
    return [value * inverse_r % field.modulus for value in limbs_to_ints(array)]


def encode_points(group: Group, points: Sequence[Point]) -> Limbs:
    """Affine points -> (n, 2, L) in G1, (n, 2, 2, L) in G2. Does not check that they are on the curve."""
    zero: Element = 0 if isinstance(group.field, Field) else (0, 0)
    coordinates = [coordinate for point in points for coordinate in (point or (zero, zero))]
    return to_montgomery_limbs(group.field, coordinates).reshape(-1, *group.point_shape)


def decode_points(group: Group, array: Limbs) -> list[Point]:
    """(n, *group.point_shape) -> affine points; all zeros -> None (infinity)."""
    element_shape = group.point_shape[1:]
    flat = from_montgomery_ints(group.field, array.reshape(-1, *element_shape))
    pairs = zip(flat[0::2], flat[1::2], strict=True)
    return [pair if point.any() else None for pair, point in zip(pairs, array, strict=True)]
