from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.witness import Witness, read_witness
from groth16.zkey import ProvingKey, check_pair, read_header, read_proving_key
from kernels.encoding import decode_points, ints_to_limbs
from kernels.fields import CURVES
from tests.groth16.oracle import LIBRARIES
from tests.groth16.samples import CURVES as NAMES
from tests.groth16.samples import patched, rebuilt, refuses, sample, sections_of


def key_of(curve: str) -> ProvingKey:
    return read_proving_key(sample(curve, "sample.zkey"))


@pytest.mark.parametrize("curve", NAMES)
def test_reads_the_head_of_snarkjss_key(curve: str) -> None:
    header = read_header(sample(curve, "sample.zkey"))
    assert header.curve.name == curve
    assert (header.n_variables, header.n_public, header.domain_size) == (14, 3, 16)
    assert header.n_coefficients == len(sections_of(header.path)[4]) // 44
    assert header.file_bytes == header.path.stat().st_size


@pytest.mark.parametrize("curve", NAMES)
def test_the_points_are_those_of_the_verification_key(curve: str) -> None:
    key = key_of(curve)
    vk = json.loads(sample(curve, "verification_key.json").read_text())
    names = {f"{name}_g2": f"vk_{name}_2" for name in ("beta", "gamma", "delta")} | {"alpha_g1": "vk_alpha_1"}
    for name, json_name in names.items():
        group = key.header.curve.g1 if name.endswith("g1") else key.header.curve.g2
        (point,) = decode_points(group, getattr(key, name)[np.newaxis])
        x, y, _ = vk[json_name]
        assert point == (
            (int(x), int(y)) if name.endswith("g1") else (tuple(map(int, x)), tuple(map(int, y)))
        )
    assert decode_points(key.header.curve.g1, key.ic) == [(int(x), int(y)) for x, y, _ in vk["IC"]]


@pytest.mark.parametrize("curve", NAMES)
def test_every_long_array_is_on_its_curve_by_py_ecc(curve: str) -> None:
    key, library = key_of(curve), LIBRARIES[curve]
    shapes = {"ic": 4, "a": 14, "b_g1": 14, "b_g2": 14, "c": 10, "h": 16}
    for name, count in shapes.items():
        group = key.header.curve.g2 if name == "b_g2" else key.header.curve.g1
        points: NDArray[np.uint64] = getattr(key, name)
        assert points.shape == (count, *group.point_shape)
        for x, y in filter(None, decode_points(group, points)):
            if name == "b_g2":
                assert library.is_on_curve((library.FQ2(x), library.FQ2(y), library.FQ2.one()), library.b2)
            else:
                assert library.is_on_curve((library.FQ(x), library.FQ(y), library.FQ.one()), library.b)


def test_key_and_witness_must_match() -> None:
    header = read_header(sample("bn254", "sample.zkey"))
    check_pair(header, read_witness(sample("bn254", "sample.wtns")))
    with pytest.raises(InputError, match="the key is on the curve bn254, the witness on bls12381"):
        check_pair(header, read_witness(sample("bls12381", "sample.wtns")))
    for count in (13, 15):
        with pytest.raises(InputError, match=f"the key is for 14 wires, the witness has {count} values"):
            check_pair(header, Witness(CURVES["bn254"], ints_to_limbs([1] * count, 4)))


HEAD = sections_of(sample("bn254", "sample.zkey"))[2]
COUNTS_AT = 4 + 32 + 4 + 32
BN254, BLS12_381 = CURVES["bn254"], CURVES["bls12381"]


def counts(n_variables: int, n_public: int, domain_size: int) -> bytes:
    return patched(HEAD, COUNTS_AT, struct.pack("<III", n_variables, n_public, domain_size))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({1: struct.pack("<I", 2)}, "key for PLONK, expected Groth16"),
        ({1: struct.pack("<I", 77)}, "key for protocol 77"),
        ({2: HEAD[:80]}, r"section 2 \(header\) is 80 bytes long"),
        ({2: patched(HEAD, 4, b"\1")}, "base field has the modulus"),
        ({2: patched(HEAD, 40, BLS12_381.fr.modulus.to_bytes(32, "little"))}, "base field has the modulus"),
        ({2: patched(HEAD, 40, b"\2")}, "expected bn254's or bls12381's"),
        ({2: counts(14, 3, 15)}, "domain of 15, expected a power of two"),
        ({2: counts(14, 3, 0)}, "domain of 0"),
        ({2: counts(14, 3, 1 << 28)}, r"bn254 allows 2\^27"),
        ({2: counts(14, 14, 16)}, "14 public signals of 14 wires"),
        ({2: counts(140, 16, 16)}, "in a domain of 16"),
        ({2: counts(14, 3, 32)}, r"section 9 \(H points\) is 1024 bytes long, expected 2048"),
        ({2: counts(15, 3, 16)}, r"section 5 \(A points\) is 896 bytes long, expected 960"),
        ({9: bytes(15 * 64)}, "H points.* expected 1024"),
        ({9: bytes(17 * 64)}, "H points.* expected 1024"),
        ({7: bytes(14 * 64)}, "B points in G2.* expected 1792"),
        ({4: struct.pack("<I", 1000)}, r"section 4 \(coefficients\) is 4 bytes long, expected 44004"),
        ({4: b""}, "coefficients.* expected at least 4"),
        ({8: None}, r"section 8 \(C points\) is missing"),
        ({2: HEAD + bytes(8)}, "header.* is 668 bytes long, expected 660"),
    ],
)
def test_damaged_keys_are_refused(tmp_path: Path, changes: dict[int, bytes | None], words: str) -> None:
    bad = rebuilt(sample("bn254", "sample.zkey"), tmp_path / "bad.zkey", changes)
    refuses(read_header, bad, words)
    refuses(read_proving_key, bad, words)


def test_a_head_point_that_is_not_reduced_is_refused(tmp_path: Path) -> None:
    modulus = BN254.fq.modulus.to_bytes(32, "little")
    head = patched(HEAD, len(HEAD) - 32, modulus)
    bad = rebuilt(sample("bn254", "sample.zkey"), tmp_path / "bad.zkey", {2: head})
    refuses(read_proving_key, bad, "a coordinate not below the modulus")


def test_a_circuit_without_private_wires_has_no_c_points(tmp_path: Path) -> None:
    sections = sections_of(sample("bn254", "sample.zkey"))
    changes = {
        2: counts(4, 3, 16),
        **{number: sections[number][: 4 * 64] for number in (5, 6)},
        7: sections[7][: 4 * 128],
        8: b"",
    }
    key = read_proving_key(rebuilt(sample("bn254", "sample.zkey"), tmp_path / "public.zkey", changes))
    assert key.c.shape == (0, 2, 4)
