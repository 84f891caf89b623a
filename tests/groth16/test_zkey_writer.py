from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from groth16.matrices import TERM
from groth16.r1cs import Csr
from groth16.zkey import read_proving_key
from groth16.zkey_writer import KeyMatrices, write_proving_key
from tests.groth16.samples import CURVES, sample, sections_of, snarkjs


def matrices_of(path: Path) -> KeyMatrices:
    """Those of a key whose terms come by row, as its section 4 has them."""
    terms = np.frombuffer(sections_of(path)[4][4:], TERM)
    n_rows = read_proving_key(path).header.domain_size

    def of(index: int) -> Csr:
        chosen = terms[terms["matrix"] == index]
        starts = np.searchsorted(chosen["row"], np.arange(n_rows + 1))
        return Csr(starts, chosen["wire"], chosen["coefficient"])

    return KeyMatrices(of(0), of(1), n_rows)


@pytest.mark.parametrize("curve", CURVES)
def test_writes_snarkjss_key_section_by_section(curve: str, tmp_path: Path) -> None:
    original, copy = sample(curve, "sample.zkey"), tmp_path / "copy.zkey"
    key, matrices = read_proving_key(original), matrices_of(original)
    circuit_hash = sections_of(original)[10][:64]
    write_proving_key(copy, key.header.curve, key, matrices, circuit_hash)
    expected, found = sections_of(original), sections_of(copy)
    for number in range(1, 10):
        assert found[number] == expected[number], number
    assert found[10] == circuit_hash + bytes(4)
    sections = read_proving_key(copy).header.container.sections
    assert all(section.offset_bytes % 64 == 0 for number, section in sections.items() if number <= 10)


def test_rows_that_b_does_not_have_are_empty(tmp_path: Path) -> None:
    path = sample("bn254", "sample.zkey")
    key, matrices = read_proving_key(path), matrices_of(path)
    last = int(np.flatnonzero(np.diff(matrices.b.row_starts))[-1]) + 1
    assert last < matrices.n_rows
    shorter = Csr(matrices.b.row_starts[: last + 1], matrices.b.columns, matrices.b.coefficients)
    write_proving_key(
        tmp_path / "k", key.header.curve, key, KeyMatrices(matrices.a, shorter, matrices.n_rows)
    )
    assert sections_of(tmp_path / "k")[4] == sections_of(path)[4]


@pytest.mark.parametrize("curve", CURVES)
def test_snarkjs_proves_with_a_key_that_we_wrote(curve: str, tmp_path: Path) -> None:
    original, copy = sample(curve, "sample.zkey"), tmp_path / "copy.zkey"
    key = read_proving_key(original)
    write_proving_key(copy, key.header.curve, key, matrices_of(original))
    proof, public, vk = (tmp_path / name for name in ("proof.json", "public.json", "vk.json"))
    snarkjs("zkey", "export", "verificationkey", copy, vk)
    assert json.loads(vk.read_text()) == json.loads(sample(curve, "verification_key.json").read_text())
    snarkjs("groth16", "prove", copy, sample(curve, "sample.wtns"), proof, public)
    assert "OK" in snarkjs("groth16", "verify", vk, public, proof)
