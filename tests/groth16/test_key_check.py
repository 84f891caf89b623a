from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from groth16.circuit_check import check_circuit
from groth16.errors import InputError
from groth16.key_check import check_head, check_points
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


HEAD = ("alpha_g1", "beta_g1", "beta_g2", "gamma_g2", "delta_g1", "delta_g2")


@pytest.mark.parametrize("curve", NAMES)
def test_a_damaged_point_of_the_head_is_named(curve: str, tmp_path: Path) -> None:
    path = sample(curve, "sample.zkey")
    header = read_header(path)
    check_head(header)
    data, at = sections_of(path)[2], header.points_start
    for name in HEAD:
        group = CURVES[curve].g2 if name.endswith("_g2") else CURVES[curve].g1
        changed = bytearray(data)
        changed[at + 3] ^= 1
        bad = rebuilt(path, tmp_path / "bad.zkey", {2: bytes(changed)})
        words = f"a point {name} that is not on {group.name}'s curve"
        with pytest.raises(InputError, match=re.escape(words)):
            check_points(read_proving_key(bad), serial)
        with pytest.raises(InputError, match=re.escape(words)):
            check_head(read_header(bad))
        at += group.point_bytes


@pytest.mark.parametrize("curve", NAMES)
@pytest.mark.parametrize(("name", "source"), [("beta", "alpha"), ("delta", "alpha")])
def test_another_point_in_one_group_than_in_the_other_is_named(
    curve: str, name: str, source: str, tmp_path: Path
) -> None:
    """A point that is a good one, but not the one that belongs there."""
    path = sample(curve, "sample.zkey")
    header, data = read_header(path), sections_of(path)[2]
    g1, g2 = CURVES[curve].g1.point_bytes, CURVES[curve].g2.point_bytes
    places = {"alpha": 0, "beta": g1, "delta": 2 * g1 + 2 * g2}
    start, to = (header.points_start + places[each] for each in (source, name))
    bad = rebuilt(path, tmp_path / "bad.zkey", {2: patched(data, to, data[start : start + g1])})
    check_points(read_proving_key(bad), serial)
    with pytest.raises(InputError, match=f"has another {name} in G1 than in G2"):
        check_head(read_header(bad))


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
