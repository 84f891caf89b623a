from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groth16.errors import InputError
from groth16.proof import Proof, read_proof, read_public, write_proof, write_public
from kernels.encoding import decode_points
from kernels.fields import CURVES
from tests.groth16.oracle import LIBRARIES, g1_point
from tests.groth16.samples import CURVES as NAMES
from tests.groth16.samples import PUBLIC, refuses, sample


def proof_json(curve: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(sample(curve, "proof.json").read_text())
    return value


def written(folder: Path, value: Any) -> Path:
    path = folder / "value.json"
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("curve", NAMES)
def test_reads_snarkjss_proof_and_writes_it_alike(curve: str, tmp_path: Path) -> None:
    proof = read_proof(sample(curve, "proof.json"))
    assert proof.curve is CURVES[curve]
    x, y, _ = proof_json(curve)["pi_a"]
    assert decode_points(proof.curve.g1, proof.a[np.newaxis]) == [(int(x), int(y))]
    write_proof(tmp_path / "copy.json", proof)
    assert json.loads((tmp_path / "copy.json").read_text()) == proof_json(curve)


@pytest.mark.parametrize("curve", NAMES)
def test_reads_snarkjss_public_signals_and_writes_them_alike(curve: str, tmp_path: Path) -> None:
    signals = read_public(sample(curve, "public.json"), CURVES[curve])
    assert signals == PUBLIC[curve]
    write_public(tmp_path / "copy.json", signals)
    assert json.loads((tmp_path / "copy.json").read_text()) == [str(signal) for signal in signals]
    write_public(tmp_path / "none.json", [])
    assert read_public(tmp_path / "none.json", CURVES[curve]) == []


@pytest.mark.parametrize("curve", NAMES)
def test_infinity_survives(curve: str, tmp_path: Path) -> None:
    g1, g2 = CURVES[curve].g1, CURVES[curve].g2
    nothing = Proof(CURVES[curve], *(np.zeros(group.point_shape, np.uint64) for group in (g1, g2, g1)))
    write_proof(tmp_path / "zero.json", nothing)
    value = json.loads((tmp_path / "zero.json").read_text())
    assert value["pi_a"] == ["0", "1", "0"]
    assert value["pi_b"] == [["0", "0"], ["1", "0"], ["0", "0"]]
    assert not read_proof(tmp_path / "zero.json").b.any()


def off_curve(curve: str) -> Any:
    return ["1", str(int(proof_json(curve)["pi_a"][1]) ^ 1), "1"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("protocol", "plonk", 'protocol is "plonk", expected groth16'),
        ("curve", "bn254", 'curve is "bn254", expected bn128 or bls12381'),
        ("curve", "bls12381", "pi_a is not a point of BLS12-381.G1"),
        ("pi_a", None, "pi_a is null, expected a list"),
        ("pi_a", ["1", "2"], "pi_a has 2 parts, expected 3"),
        ("pi_a", [1, 2, 1], "pi_a's coordinate is 1, expected a decimal number in quotes"),
        ("pi_a", ["0x1", "2", "1"], "expected a decimal number"),
        ("pi_a", ["-1", "2", "1"], "expected a decimal number"),
        ("pi_a", ["٣", "2", "1"], "expected a decimal number"),
        ("pi_a", ["1" * 5000, "2", "1"], "expected a decimal number"),
        ("pi_a", ["1", "2", "5"], "third coordinate 5, expected 1"),
        ("pi_a", [str(CURVES["bn254"].fq.modulus + 1), "2", "1"], "expected less than the modulus"),
        ("pi_a", off_curve("bn254"), "pi_a is not a point of BN254.G1"),
        ("pi_b", [["1", "2"], ["3", "4"], ["1", "0"]], "pi_b is not a point of BN254.G2"),
        ("pi_b", ["1", "2", "1"], "pi_b's coordinate is .1., expected a list"),
        ("pi_c", ["0", "0", "1"], r"pi_c is \(0, 0\), no point of BN254.G1"),
    ],
)
def test_malformed_proofs_are_refused(tmp_path: Path, name: str, value: Any, words: str) -> None:
    refuses(read_proof, written(tmp_path, proof_json("bn254") | {name: value}), words)


@pytest.mark.parametrize("value", [[], "text", {"protocol": "groth16"}, ["48"]])
def test_what_is_no_proof_is_refused(tmp_path: Path, value: Any) -> None:
    refuses(read_proof, written(tmp_path, value), "expected a JSON object|has no curve, pi_a, pi_b, pi_c")


def point_outside_the_subgroup(curve: str) -> list[list[str]]:
    """The twist's first point with a small x; the subgroup is too small a part of it to be hit."""
    library = LIBRARIES[curve]
    for x0 in range(1, 200):
        x = library.FQ2([x0, 0])
        y = square_root(x * x * x + library.b2, library.field_modulus)
        if y is not None:
            assert not library.is_inf(library.multiply((x, y, library.FQ2.one()), library.curve_order))
            return [[str(x0), "0"], [str(int(part)) for part in y.coeffs], ["1", "0"]]
    raise AssertionError("no point found")


def square_root(square: Any, p: int) -> Any:
    """In Fq2 with u² = −1 and p = 3 mod 4, by the square root of the norm; None for a non-residue."""
    a0, a1 = (int(part) for part in square.coeffs)
    norm_root = pow(a0 * a0 + a1 * a1, (p + 1) // 4, p)
    for half in ((a0 + norm_root) * pow(2, -1, p), (a0 - norm_root) * pow(2, -1, p)):
        y0 = pow(half, (p + 1) // 4, p)
        root = type(square)([y0, a1 * pow(2 * y0, -1, p)])
        if root * root == square:
            return root
    return None


@pytest.mark.parametrize("curve", NAMES)
def test_points_of_the_curve_outside_the_subgroup_are_refused(curve: str, tmp_path: Path) -> None:
    value = proof_json(curve) | {"pi_b": point_outside_the_subgroup(curve)}
    refuses(read_proof, written(tmp_path, value), "pi_b is not in the subgroup of prime order")


def test_a_point_of_bls12_381s_g1_outside_the_subgroup_is_refused(tmp_path: Path) -> None:
    p = CURVES["bls12381"].fq.modulus
    x = next(x for x in range(4, 99) if pow(x**3 + 4, (p - 1) // 2, p) == 1)
    y = pow(x**3 + 4, (p + 1) // 4, p)
    value = proof_json("bls12381") | {"pi_a": [str(x), str(y), "1"]}
    refuses(read_proof, written(tmp_path, value), "pi_a is not in the subgroup")


@pytest.mark.parametrize("curve", NAMES)
def test_public_signals_are_checked(curve: str, tmp_path: Path) -> None:
    modulus = CURVES[curve].fr.modulus

    def read(path: Path) -> list[int]:
        return read_public(path, CURVES[curve])

    assert read(written(tmp_path, [str(modulus - 1)])) == [modulus - 1]
    refuses(
        read, written(tmp_path, ["1", str(modulus)]), "public signal 1 is .* expected less than the modulus"
    )
    refuses(read, written(tmp_path, [1]), "public signal 0 is 1, expected a decimal number in quotes")
    refuses(read, written(tmp_path, {"0": "1"}), "expected a list")
    with pytest.raises(InputError, match="cannot be written"):
        write_public(tmp_path / "missing" / "public.json", [1])


@pytest.mark.parametrize("curve", NAMES)
def test_points_made_by_py_ecc_are_read(curve: str, tmp_path: Path) -> None:
    point = g1_point(curve, 123456789)
    assert point is not None
    value = proof_json(curve) | {"pi_c": [str(point[0]), str(point[1]), "1"]}
    proof = read_proof(written(tmp_path, value))
    assert decode_points(proof.curve.g1, proof.c[np.newaxis]) == [point]
