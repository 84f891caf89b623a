"""snarkjs's setup from a powers-of-tau file of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.circuits.dense import dense
from benchmarks.circuits.files import write_instance
from benchmarks.contestants import registry
from benchmarks.suites.ptau import write_ptau
from groth16.zkey import read_header
from kernels.encoding import encode_points
from kernels.fields import CURVES, Curve

CORES = sorted(os.sched_getaffinity(0))[:1]


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_snarkjs_makes_a_key_of_the_right_size(curve: Curve, tmp_path: Path) -> None:
    r1cs, ptau, zkey = (tmp_path / name for name in ("c.r1cs", "p.ptau", "k.zkey"))
    write_instance(dense(curve, 7), r1cs, tmp_path / "c.wtns")
    g1, g2 = (encode_points(group, [group.generator]) for group in (curve.g1, curve.g2))
    write_ptau(ptau, curve, 4, g1, g2)  # the domain has room for two more rows, so it is twice 8
    (entry,) = [entry for entry in registry.ENTRIES if entry.name == "snarkjs"]
    with registry.start(entry, CORES) as snarkjs:
        snarkjs.measure("setup", r1cs=str(r1cs), zkey=str(zkey), ptau=str(ptau))
    header = read_header(zkey)
    assert (header.curve, header.domain_size, header.n_variables) == (curve, 16, 9)
