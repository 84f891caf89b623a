"""arkworks on BLS12-381, by the package py-arkworks-bls12381. One thread; a sum includes its conversions."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from py_arkworks_bls12381 import GT, G1Point, G2Point, Scalar

from benchmarks.contestants.serve import Job, serve
from kernels.encoding import Limbs, decode_points
from kernels.fields import BLS12_381, Group

COORDINATE_BYTES = 48
GROUPS: dict[str, tuple[Any, Group]] = {"g1": (G1Point, BLS12_381.g1), "g2": (G2Point, BLS12_381.g2)}


def msm(curve: str, group: str, points: str, scalars: str) -> Job:
    _only_own(curve)
    point, own = GROUPS[group]
    rows = np.fromfile(points, np.uint64).reshape(-1, *own.point_shape)
    given = [point.from_xy_bytes_unchecked_le(_le_bytes(own, row)) for row in rows]
    numbers = [Scalar.from_le_bytes(row.tobytes()) for row in np.fromfile(scalars, np.uint64).reshape(-1, 4)]
    return Job(lambda: point.multiexp_unchecked(given, numbers), _coordinates)


def pairing(curve: str, pairs: int) -> Job:
    _only_own(curve)
    g1, g2 = [G1Point(), -G1Point()] * (pairs // 2), [G2Point()] * pairs
    return Job(lambda: GT.pairing_check(g1, g2), str)


def _only_own(curve: str) -> None:
    if curve != BLS12_381.name:
        raise ValueError(f"the package knows {BLS12_381.name}, not {curve}")


def _le_bytes(group: Group, row: Limbs) -> bytes:
    """An affine point's coordinates, canonical, one after the other."""
    (point,) = decode_points(group, row[None])
    assert point is not None, "the points to measure with are finite"
    flat = [part for pair in point for part in (pair if isinstance(pair, tuple) else (pair,))]
    return b"".join(part.to_bytes(COORDINATE_BYTES, "little") for part in flat)


def _coordinates(point: Any) -> str:
    text, size = point.to_xy_bytes_le(), COORDINATE_BYTES
    return ",".join(f"{int.from_bytes(text[at : at + size], 'little'):x}" for at in range(0, len(text), size))


if __name__ == "__main__":
    serve(version("py-arkworks-bls12381"), {"msm": msm, "pairing": pairing})
