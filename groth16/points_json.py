"""Points and numbers as snarkjs writes them in JSON: decimal strings, projective with a last coordinate of 1.

G1: ["x", "y", "1"]; G2: [["x0", "x1"], ["y0", "y1"], ["1", "0"]]; infinity: ["0", "1", "0"] and its like.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.json_files import shown
from kernels.cpu.curve import first_not_on_curve, in_subgroup
from kernels.encoding import decode_points, encode_points
from kernels.fields import CURVES, Curve, Field, Group

Points = NDArray[np.uint64]

_MOST_DIGITS = 160  # more than any field's modulus has; Python converts longer strings slowly or not at all


def parse_number(value: Any, limit: int, what: str) -> int:
    """A decimal string below `limit`. Raises InputError, which `what` begins, for anything else."""
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS):
        raise InputError(f"{what} is {shown(value)}, expected a decimal number in quotes")
    number = int(value)
    if number >= limit:
        raise InputError(f"{what} is {number}, expected less than the modulus {limit}: give it reduced")
    return number


def parse_point(group: Group, value: Any, what: str) -> Points:
    """One affine point, (2, L) or (2, 2, L) Montgomery, checked to be on the curve and in its subgroup."""
    x, y, z = (_parse_element(group, part, what) for part in _parse_list(value, 3, what))
    zero, one = (0, 1) if isinstance(group.field, Field) else ((0, 0), (1, 0))
    if z not in (zero, one):
        raise InputError(
            f"{what} has the third coordinate {z}, expected 1, or 0 for infinity: normalize the point"
        )
    if z == one and x == y == zero:  # in memory (0, 0) is infinity, in a file it is a mistake
        raise InputError(f"{what} is (0, 0), no point of {group.name}; infinity has a third coordinate of 0")
    points = encode_points(group, [None if z == zero else (x, y)])
    check_points(group, points, [what])
    return points.reshape(group.point_shape)


def check_points(group: Group, points: Points, names: list[str]) -> None:
    """Raise InputError, by name, for a point that is not on the curve or not in the subgroup; infinity is."""
    index = first_not_on_curve(group, points, 0, len(points))
    if index >= 0:
        raise InputError(f"{names[index]} is not a point of {group.name}")
    for name, point in zip(names, points, strict=True):
        if not in_subgroup(group, point):
            raise InputError(f"{name} is not in the subgroup of prime order of {group.name}")


def format_point(group: Group, point: Points) -> list[Any]:
    """The inverse of `parse_point`."""
    (affine,) = decode_points(group, point[np.newaxis])
    if isinstance(group.field, Field):
        x, y, z = (*affine, 1) if affine else (0, 1, 0)
        return [str(x), str(y), str(z)]
    elements = (*affine, (1, 0)) if affine else ((0, 0), (1, 0), (0, 0))
    return [[str(c0), str(c1)] for c0, c1 in elements]


def parse_head(path: str | Path, value: Any, required: tuple[str, ...]) -> Curve:
    """Check that a JSON value is a Groth16 object with these keys; returns the curve that it names."""
    if not isinstance(value, dict):
        raise InputError(f"{path}: holds {shown(value)}, expected a JSON object")
    missing = [name for name in ("protocol", "curve", *required) if name not in value]
    if missing:
        raise InputError(f"{path}: has no {', '.join(missing)}: is it the file you meant?")
    if value["protocol"] != "groth16":
        raise InputError(f"{path}: the protocol is {shown(value['protocol'])}, expected groth16")
    curve = next((curve for curve in CURVES.values() if curve.snarkjs_name == value["curve"]), None)
    if curve is None:
        raise InputError(f"{path}: the curve is {shown(value['curve'])}, expected bn128 or bls12381")
    return curve


def parse_list(value: Any, what: str) -> list[Any]:
    """A JSON array of any length. Raises InputError, which `what` begins, for anything else."""
    if not isinstance(value, list):
        raise InputError(f"{what} is {shown(value)}, expected a list")
    return value


def _parse_list(value: Any, length: int, what: str) -> list[Any]:
    if len(parse_list(value, what)) != length:
        raise InputError(f"{what} has {len(value)} parts, expected {length}")
    return list(value)


def _parse_element(group: Group, value: Any, what: str) -> Any:
    if isinstance(group.field, Field):
        return parse_number(value, group.field.modulus, f"{what}'s coordinate")
    parts = _parse_list(value, 2, f"{what}'s coordinate")
    return tuple(parse_number(part, group.field.base.modulus, f"{what}'s coordinate") for part in parts)
