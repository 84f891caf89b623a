from __future__ import annotations

import pytest

from groth16 import sizes
from groth16.witness import read_witness
from groth16.zkey import POINT_SECTIONS, read_proving_key
from kernels.cpu.batch_affine import new_scratch
from kernels.cpu.ntt import domain_of
from kernels.fields import BLS12_381, BN254
from tests.groth16.samples import CURVES, sample


@pytest.mark.parametrize("curve", CURVES)
def test_sizes_are_those_of_the_arrays(curve: str) -> None:
    key = read_proving_key(sample(curve, "sample.zkey"))
    assert key.header.srs_bytes == sum(getattr(key, name).nbytes for name in POINT_SECTIONS)
    witness = read_witness(sample(curve, "sample.wtns"))
    assert sizes.witness_bytes(key.header) == witness.values.nbytes
    vector = 16 * 32
    assert sizes.phase1_bytes(key.header) == 2 * vector
    table_bytes = domain_of(key.header.curve.fr, 4).table_bytes
    assert table_bytes <= sizes.roots_bytes(key.header) <= table_bytes + 32
    assert key.header.pce_bytes == sizes.matrices_bytes(key.header) + sizes.roots_bytes(key.header)
    assert sizes.phase2_bytes(key.header) >= witness.values.nbytes + vector
    assert sizes.phase2_bytes(key.header, threads=4) > sizes.phase2_bytes(key.header)


@pytest.mark.parametrize("lanes", ["off", "emulated"])
def test_a_block_of_points_is_no_larger_than_reserved(lanes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", lanes)
    for curve in (BN254, BLS12_381):
        for group in (curve.g1, curve.g2):
            used_bytes = sum(array.nbytes for array in new_scratch(group.field))
            assert used_bytes <= sizes.MSM_BLOCK_BYTES
