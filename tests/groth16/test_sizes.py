from __future__ import annotations

import pytest

from groth16 import sizes
from groth16.witness import read_witness
from groth16.zkey import POINT_SECTIONS, read_proving_key
from kernels.cpu.batch_affine import BLOCK
from tests.groth16.samples import CURVES, sample


@pytest.mark.parametrize("curve", CURVES)
def test_sizes_are_those_of_the_arrays(curve: str) -> None:
    key = read_proving_key(sample(curve, "sample.zkey"))
    assert key.header.srs_bytes == sum(getattr(key, name).nbytes for name in POINT_SECTIONS)
    witness = read_witness(sample(curve, "sample.wtns"))
    assert sizes.witness_bytes(key.header) == witness.values.nbytes
    vector = 16 * 32
    assert sizes.phase1_bytes(key.header) == 2 * vector + vector // 2
    assert sizes.phase2_bytes(key.header) >= witness.values.nbytes + vector
    assert sizes.phase2_bytes(key.header, threads=4) > sizes.phase2_bytes(key.header)


def test_a_block_of_points_is_the_kernels() -> None:
    assert sizes.MSM_BLOCK_POINTS == BLOCK
