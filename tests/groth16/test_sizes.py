from __future__ import annotations

import pytest

from groth16 import sizes
from groth16.witness import read_witness
from groth16.zkey import POINT_SECTIONS, read_proving_key
from kernels.cpu.batch_affine import BLOCK
from kernels.cpu.ntt import domain_of
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


def test_a_block_of_points_is_the_kernels() -> None:
    assert sizes.MSM_BLOCK_POINTS == BLOCK
