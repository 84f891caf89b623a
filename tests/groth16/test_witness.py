from __future__ import annotations

import struct
from pathlib import Path

import pytest

from groth16.errors import InputError
from groth16.witness import Witness, read_witness, write_witness
from kernels.encoding import ints_to_limbs, limbs_to_ints
from kernels.fields import CURVES
from tests.groth16 import oracle
from tests.groth16.samples import CURVES as NAMES
from tests.groth16.samples import PUBLIC, rebuilt, refuses, sample, sections_of


@pytest.mark.parametrize("curve", NAMES)
def test_reads_circoms_witness_and_writes_it_byte_for_byte(curve: str, tmp_path: Path) -> None:
    path = sample(curve, "sample.wtns")
    witness = read_witness(path)
    assert witness.curve.name == curve
    assert limbs_to_ints(witness.values)[:4] == [1, *PUBLIC[curve]]
    assert witness.values.flags.aligned
    assert witness.values.flags.writeable
    write_witness(tmp_path / "copy.wtns", witness)
    assert (tmp_path / "copy.wtns").read_bytes() == path.read_bytes()


def test_values_are_never_printed() -> None:
    assert "values" not in repr(read_witness(sample("bn254", "sample.wtns")))


@pytest.mark.parametrize("curve", NAMES)
def test_values_are_checked(curve: str) -> None:
    modulus = CURVES[curve].fr.modulus
    Witness(CURVES[curve], ints_to_limbs([1, modulus - 1], 4))
    with pytest.raises(InputError, match="value 1 of the witness is not below the modulus"):
        Witness(CURVES[curve], ints_to_limbs([1, modulus], 4))
    for first in (0, 2, modulus + 1, 1 << 64):
        with pytest.raises(InputError, match="first value is not 1"):
            Witness(CURVES[curve], ints_to_limbs([first, 3], 4))
    with pytest.raises(InputError, match="first value is not 1"):
        Witness(CURVES[curve], ints_to_limbs([], 4))


def test_damaged_witnesses_are_refused(tmp_path: Path) -> None:
    good, bad = sample("bn254", "sample.wtns"), tmp_path / "bad.wtns"
    header, values = sections_of(good)[1], sections_of(good)[2]
    more = header[:-4] + struct.pack("<I", 15)
    refuses(read_witness, rebuilt(good, bad, {1: more}), "is 448 bytes long, expected 480")
    refuses(read_witness, rebuilt(good, bad, {2: values + b"\0"}), "is 449 bytes long, expected 448")
    refuses(read_witness, rebuilt(good, bad, {2: bytes(32) + values[32:]}), "first value is not 1")
    too_large = oracle.MODULI["bn254"].to_bytes(32, "little")
    refuses(read_witness, rebuilt(good, bad, {2: values[:-32] + too_large}), "value 13 .* not below")
    refuses(
        read_witness, rebuilt(good, bad, {1: struct.pack("<IQI", 8, 2**64 - 2**32 + 1, 56)}), "expected bn254"
    )
    refuses(read_witness, sample("bn254", "sample.r1cs"), "no .wtns file")


@pytest.mark.parametrize("begin", [b"", b" \n", b"\xef\xbb\xbf"])
def test_inputs_in_its_place_are_told_apart(begin: bytes, tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_bytes(begin + b'{"a": 1}')
    refuses(read_witness, path, "is JSON, expected a witness .* --wasm FILE")
