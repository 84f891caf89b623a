"""Verification keys, in memory and in snarkjs's verification_key.json."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16 import points_json as pj
from groth16.errors import InputError
from groth16.json_files import read_json, write_json
from groth16.zkey import ProvingKey, read_head_points, read_header, read_points
from kernels.cpu.pairing import final_exponentiation, miller_loop
from kernels.encoding import from_montgomery_ints
from kernels.fields import Curve, Group

Points = NDArray[np.uint64]


@dataclass(frozen=True)
class VerificationKey:
    """Affine points, uint64 limbs of Fq, Montgomery: alpha_g1 (2, L); beta_g2, gamma_g2, delta_g2 (2, 2, L);
    ic (n_public + 1, 2, L), of wire 0 and the public signals."""

    curve: Curve
    alpha_g1: Points
    beta_g2: Points
    gamma_g2: Points
    delta_g2: Points
    ic: Points

    @property
    def n_public(self) -> int:
        return len(self.ic) - 1


def verification_key_of(key: ProvingKey) -> VerificationKey:
    """The part of a proving key that verifies."""
    return VerificationKey(
        key.header.curve, key.alpha_g1, key.beta_g2, key.gamma_g2, key.delta_g2, key.ic.copy()
    )


def read_verification_key_of(path: str | Path) -> VerificationKey:
    """Read the verification key out of a .zkey, without reading the rest.

    Raises InputError as `read_header` does, and for a point that is not in its group.
    """
    header = read_header(path)
    head = read_head_points(header)
    ic = read_points(header, 3).copy()
    key = VerificationKey(
        header.curve, head["alpha_g1"], head["beta_g2"], head["gamma_g2"], head["delta_g2"], ic
    )
    for name, group in _points_of(header.curve).items():
        pj.check_points(group, getattr(key, name)[np.newaxis], [f"{path}: {name}"])
    pj.check_points(header.curve.g1, ic, [f"{path}: IC point {index}" for index in range(len(ic))])
    _refuse_infinity(path, key)
    return key


def read_verification_key(path: str | Path) -> VerificationKey:
    """Read a verification key.

    Raises InputError, naming file and part, for a missing or malformed part or a point not in its group.
    """
    return parse_verification_key(path, read_json(path))


def parse_verification_key(path: str | Path, value: Any) -> VerificationKey:
    """The key in JSON that was read from `path`. Raises as `read_verification_key`."""
    curve = pj.parse_head(path, value, ("nPublic", *_JSON_NAMES.values(), "IC"))
    points = {
        name: pj.parse_point(group, value[_JSON_NAMES[name]], f"{path}: {_JSON_NAMES[name]}")
        for name, group in _points_of(curve).items()
    }
    ic = [
        pj.parse_point(curve.g1, point, f"{path}: IC point {index}")
        for index, point in enumerate(pj.parse_list(value["IC"], f"{path}: IC"))
    ]
    if value["nPublic"] != len(ic) - 1:
        raise InputError(
            f"{path}: nPublic is {value['nPublic']!r} with {len(ic)} IC points, expected one less"
        )
    key = VerificationKey(curve, ic=np.stack(ic), **points)
    _refuse_infinity(path, key)
    return key


def write_verification_key(path: str | Path, key: VerificationKey) -> None:
    """Write a key as snarkjs does. Raises InputError if the file cannot be written."""
    points = {
        _JSON_NAMES[name]: pj.format_point(group, getattr(key, name))
        for name, group in _points_of(key.curve).items()
    }
    head = {"protocol": "groth16", "curve": key.curve.snarkjs_name, "nPublic": key.n_public}
    alpha_beta = {"vk_alphabeta_12": _alpha_beta(key)}
    ic = {"IC": [pj.format_point(key.curve.g1, point) for point in key.ic]}
    write_json(path, head | points | alpha_beta | ic)


def _alpha_beta(key: VerificationKey) -> list[list[list[str]]]:
    """e(alpha, beta) in the tower Fq2, Fq6, Fq12, (2, 3, 2) decimal numbers; for other verifiers.

    snarkjs's pairing is the same multiple of the reduced one as our final exponentiation gives: to the power
    2x(6x² + 3x + 1) on BN254 and 3 on BLS12-381, where ours has the loop's sign left out.
    """
    curve = key.curve
    value = final_exponentiation(miller_loop(curve, key.alpha_g1[np.newaxis], key.beta_g2[np.newaxis]))
    if curve.ate_loop < 0:
        value = value.conjugate()
    pairs = from_montgomery_ints(curve.fq2, value.coefficients)
    return [[[str(part) for part in pairs[2 * power + half]] for power in range(3)] for half in range(2)]


_JSON_NAMES = {
    "alpha_g1": "vk_alpha_1",
    "beta_g2": "vk_beta_2",
    "gamma_g2": "vk_gamma_2",
    "delta_g2": "vk_delta_2",
}


def _points_of(curve: Curve) -> dict[str, Group]:
    return {"alpha_g1": curve.g1, "beta_g2": curve.g2, "gamma_g2": curve.g2, "delta_g2": curve.g2}


def _refuse_infinity(path: str | Path, key: VerificationKey) -> None:
    """With any of these at infinity the equation no longer binds what it should."""
    for name in _points_of(key.curve):
        if not getattr(key, name).any():
            raise InputError(f"{path}: {name} is the point at infinity: the key proves nothing")
