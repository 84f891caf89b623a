from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from groth16.circuit_check import check_circuit
from groth16.errors import InputError
from groth16.key_check import check_points
from groth16.zkey import POINT_SECTIONS, read_header, read_proving_key
from kernels.fields import CURVES
from kernels.parallel import serial
from tests.groth16.samples import CURVES as NAMES
from tests.groth16.samples import patched, rebuilt, refuses, sample, sections_of


@pytest.mark.parametrize("curve", NAMES)
def test_snarkjss_key_passes(curve: str) -> None:
    check_points(read_proving_key(sample(curve, "sample.zkey")), serial)


@pytest.mark.parametrize("curve", NAMES)
@pytest.mark.parametrize("name", POINT_SECTIONS)
def test_a_damaged_point_is_named(curve: str, name: str, tmp_path: Path) -> None:
    path, number = sample(curve, "sample.zkey"), POINT_SECTIONS[name]
    data = sections_of(path)[number]
    group = CURVES[curve].g2 if name == "b_g2" else CURVES[curve].g1
    at, end = 3 * group.point_bytes, 4 * group.point_bytes
    refusals = {
        f"a point 3 that is not on {group.name}": patched(data, at, struct.pack("<Q", 1)),
        "a coordinate not below the modulus in point 3": patched(data, end - 8, b"\xff" * 8),
    }
    for words, changed in refusals.items():
        key = read_proving_key(rebuilt(path, tmp_path / "bad.zkey", {number: changed}))
        with pytest.raises(InputError, match=re.escape(words)):
            check_points(key, serial)


@pytest.mark.parametrize("curve", NAMES)
def test_only_the_keys_circuit_passes(curve: str, tmp_path: Path) -> None:
    header, r1cs = read_header(sample(curve, "sample.zkey")), sample(curve, "sample.r1cs")
    check_circuit(header, r1cs)
    head = sections_of(r1cs)[1]
    wires = header.n_variables + 1
    more = rebuilt(r1cs, tmp_path / "more.r1cs", {1: patched(head, 36, struct.pack("<I", wires))})
    other = sample(next(name for name in NAMES if name != curve), "sample.r1cs")
    for wrong, words in (
        (more, f"on {curve} with {wires} wires, .* expected {curve} with {wires - 1} wires"),
        (other, f"expected {curve} with"),
        (sample(curve, "sample.wtns"), "no .r1cs file"),
    ):
        refuses(lambda path: check_circuit(header, path), wrong, words)
