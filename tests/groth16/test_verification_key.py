from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groth16.verification_key import (
    VerificationKey,
    read_verification_key,
    read_verification_key_of,
    verification_key_of,
    write_verification_key,
)
from groth16.zkey import read_proving_key
from tests.groth16.samples import CURVES, patched, rebuilt, refuses, sample, sections_of, snarkjs

PARTS = ("alpha_g1", "beta_g2", "gamma_g2", "delta_g2", "ic")


def key_json(curve: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(sample(curve, "verification_key.json").read_text())
    return value


def equal(a: VerificationKey, b: VerificationKey) -> bool:
    return a.curve is b.curve and all(np.array_equal(getattr(a, part), getattr(b, part)) for part in PARTS)


@pytest.mark.parametrize("curve", CURVES)
def test_json_and_proving_key_give_the_same_key(curve: str) -> None:
    key = read_verification_key(sample(curve, "verification_key.json"))
    assert key.n_public == 3
    assert equal(key, read_verification_key_of(sample(curve, "sample.zkey")))
    assert equal(key, verification_key_of(read_proving_key(sample(curve, "sample.zkey"))))
    assert key.ic.flags.aligned


@pytest.mark.parametrize("curve", CURVES)
def test_a_key_that_we_wrote_is_snarkjss_own_and_it_verifies_with_it(curve: str, tmp_path: Path) -> None:
    path = tmp_path / "vk.json"
    write_verification_key(path, read_verification_key_of(sample(curve, "sample.zkey")))
    assert json.loads(path.read_text()) == key_json(curve)
    assert list(json.loads(path.read_text())) == list(key_json(curve))
    assert "OK" in snarkjs(
        "groth16", "verify", path, sample(curve, "public.json"), sample(curve, "proof.json")
    )


INFINITY = {"vk_alpha_1": ["0", "1", "0"], "vk_delta_2": [["0", "0"], ["1", "0"], ["0", "0"]]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"IC": []}, "nPublic is 3 with 0 IC points"),
        ({"IC": key_json("bn254")["IC"][:3]}, "nPublic is 3 with 3 IC points"),
        ({"nPublic": "3"}, "nPublic is '3'"),
        ({"IC": [["1", "3", "1"]] * 4}, "IC point 0 is not a point"),
        (
            {"vk_gamma_2": key_json("bls12381")["vk_gamma_2"]},
            "vk_gamma_2.* expected less than the modulus",
        ),
        ({"vk_alpha_1": INFINITY["vk_alpha_1"]}, "alpha_g1 is the point at infinity"),
        ({"vk_delta_2": INFINITY["vk_delta_2"]}, "delta_g2 is the point at infinity"),
        ({"curve": "bn128", "protocol": "fflonk"}, "expected groth16"),
    ],
)
def test_malformed_keys_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = tmp_path / "vk.json"
    path.write_text(json.dumps(key_json("bn254") | changes))
    refuses(read_verification_key, path, words)


def test_a_proof_given_as_key_is_refused() -> None:
    refuses(read_verification_key, sample("bn254", "proof.json"), "has no nPublic, vk_alpha_1")


def test_damaged_points_of_a_proving_key_are_refused(tmp_path: Path) -> None:
    path, bad = sample("bn254", "sample.zkey"), tmp_path / "bad.zkey"
    sections = sections_of(path)
    first_point_at = 84
    head = patched(sections[2], first_point_at, b"\1\2\3")
    refuses(read_verification_key_of, rebuilt(path, bad, {2: head}), "alpha_g1 is not a point of BN254.G1")
    ic = patched(sections[3], 3 * 64, b"\1\2\3")
    refuses(read_verification_key_of, rebuilt(path, bad, {3: ic}), "IC point 3 is not a point of BN254.G1")
    head = patched(sections[2], first_point_at, bytes(64))
    refuses(read_verification_key_of, rebuilt(path, bad, {2: head}), "alpha_g1 is the point at infinity")
