"""Proofs and public signals, in memory and in snarkjs's proof.json and public.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16 import points_json as pj
from groth16.json_files import json_bytes, read_json, write_json
from groth16.output import replacing
from kernels.fields import Curve


@dataclass(frozen=True)
class Proof:
    """Three affine points, uint64 limbs of Fq, Montgomery, infinity all zeros: a, c (2, L), b (2, 2, L)."""

    curve: Curve
    a: NDArray[np.uint64]
    b: NDArray[np.uint64]
    c: NDArray[np.uint64]


def read_proof(path: str | Path) -> Proof:
    """Read a proof.

    Raises InputError, naming file and part, for anything but three points of the curve's subgroups.
    """
    return parse_proof(path, read_json(path))


def parse_proof(path: str | Path, value: Any) -> Proof:
    """The proof in a parsed proof.json; `path` is for the InputError, raised as by `read_proof`."""
    curve = pj.parse_head(path, value, ("pi_a", "pi_b", "pi_c"))
    groups = {"pi_a": curve.g1, "pi_b": curve.g2, "pi_c": curve.g1}
    a, b, c = (pj.parse_point(group, value[name], f"{path}: {name}") for name, group in groups.items())
    return Proof(curve, a, b, c)


def proof_json(proof: Proof) -> bytes:
    """What `write_proof` writes."""
    return json_bytes(_value_of(proof))


def public_json(signals: Sequence[int]) -> bytes:
    """What `write_public` writes."""
    return json_bytes([str(signal) for signal in signals])


def write_proof(path: str | Path, proof: Proof) -> None:
    """Write a proof. Raises InputError if the file cannot be written."""
    write_json(path, _value_of(proof))


def write_both(proof_path: Path, proof: Proof, public_path: Path, signals: Sequence[int]) -> None:
    """Write a proof and its public signals, or neither. Raises InputError if one cannot be written."""
    with replacing(proof_path) as file:
        file.write(json_bytes(_value_of(proof)))
        file.flush()  # both may go to one stream, in this order
        write_public(public_path, signals)


def _value_of(proof: Proof) -> dict[str, Any]:
    g1, g2 = proof.curve.g1, proof.curve.g2
    return {
        "pi_a": pj.format_point(g1, proof.a),
        "pi_b": pj.format_point(g2, proof.b),
        "pi_c": pj.format_point(g1, proof.c),
        "protocol": "groth16",
        "curve": proof.curve.snarkjs_name,
    }


def read_public(path: str | Path, curve: Curve) -> list[int]:
    """Read public signals. Raises InputError for anything but decimal strings below the scalar modulus."""
    return parse_public(path, read_json(path), curve)


def parse_public(path: str | Path, value: Any, curve: Curve) -> list[int]:
    """The signals in a parsed public.json; `path` is for the InputError, raised as by `read_public`."""
    signals = pj.parse_list(value, f"{path}: the file")
    return [
        pj.parse_number(signal, curve.fr.modulus, f"{path}: public signal {index}")
        for index, signal in enumerate(signals)
    ]


def write_public(path: str | Path, signals: Sequence[int]) -> None:
    """Write public signals. Raises InputError if the file cannot be written."""
    write_json(path, [str(signal) for signal in signals])
