from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from engine.tables import LEAST_DOMAIN
from groth16 import sizes
from groth16.witness import read_witness
from groth16.zkey import POINT_SECTIONS, read_proving_key
from kernels.cpu.batch_affine import new_scratch
from kernels.cpu.msm import _tasks, msm
from kernels.cpu.ntt import domain_of
from kernels.cpu.scalar_parts import Part, _best_window_bits
from kernels.cpu.tables import make_table
from kernels.cpu.windows import window_count
from kernels.encoding import encode_points
from kernels.fields import BLS12_381, BN254, Curve
from kernels.meter import Meter
from kernels.parallel import serial
from tests.groth16.samples import CURVES, ROOT, sample


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
            assert used_bytes <= curve.fq.limbs << 18


def test_no_sum_has_more_buckets_or_digits_than_are_reserved() -> None:
    """For ever more scalars of each kind, the most so far is covered; on BLS12-381, for whose orders 255 bits
    are the most.
    """
    most_bytes = most_digit_bytes = 0
    for n in sorted({int(2 ** (quarter / 4)) + more for quarter in range(104) for more in (-1, 0, 1)} - {0}):
        for limit, in_lanes in product((2, 1 << 64, BLS12_381.g2.order), (True, False)):
            bits = _best_window_bits(n, limit, in_lanes)
            count = window_count(limit, bits)
            digits = np.broadcast_to(np.uint16(0), (count, n))
            part = Part(np.empty(0, np.uint32), digits, bits, bits, count - 1)
            most_digit_bytes = max(most_digit_bytes, 2 * count * n)
            for threads in (1, 2, 3, 8, 64):
                tasks = [(windows, stop - start) for _, windows, start, stop in _tasks(part, threads)]
                buckets = max(windows << (bits - 1) for windows, _ in tasks)
                digits = max(windows * size for windows, size in tasks)
                most_bytes = max(most_bytes, buckets * (192 + 96) + digits * 8)
        assert most_bytes + (6 << 18) <= sizes.msm_thread_bytes(n, BLS12_381), n
        shared_bytes = sizes.msm_bytes(Counts(n, n, BLS12_381), threads=0)
        assert most_digit_bytes + 8 * n <= shared_bytes, n


SUM = """
import sys
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from kernels.cpu.msm import msm
from kernels.encoding import encode_points
from kernels.fields import BN254
from kernels.meter import Meter
from kernels.parallel import PoolRunner

def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))

threads, n, g2 = 2, int(sys.argv[1]), BN254.g2
points = np.tile(encode_points(g2, [g2.generator]), (n, 1, 1, 1))
scalars = np.random.default_rng(1).integers(0, 2**60, (n, 4), np.uint64)
with ThreadPoolExecutor(threads) as pool:
    run = PoolRunner(pool, threads)
    msm(g2, points[:2000], scalars[:2000], run)  # kernels and threads are there
    open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
    before = status("VmRSS")
    meter = Meter()
    with meter.counting():
        msm(g2, points, scalars, run)
    print(status("VmHWM") - before, meter.peak_bytes)
"""


@dataclass(frozen=True)
class Counts:
    """A key of that many wires, all private."""

    n_variables: int
    domain_size: int
    curve: Curve = BN254
    n_public: int = 0
    n_coefficients: int = 0


def test_the_largest_sum_takes_no_more_memory_than_is_reserved_for_it() -> None:
    n = 1 << 16
    done = subprocess.run(
        [sys.executable, "-c", SUM, str(n)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    taken_bytes, metered_bytes = map(int, done.stdout.split())
    assert max(taken_bytes, metered_bytes) <= sizes.msm_bytes(Counts(n, n), threads=2)
    assert taken_bytes <= metered_bytes + (1 << 20)  # what the allocator keeps for the next array
    assert sizes.msm_bytes(Counts(n, n), threads=2) < 2.5 * metered_bytes


@pytest.mark.parametrize("curve", [BN254, BLS12_381])
@pytest.mark.parametrize("lanes", ["off", "auto"])
@pytest.mark.parametrize("n", [1, 300, 1 << 12])  # 300: many windows are one task
def test_a_sum_of_any_size_takes_no_more_memory_than_is_reserved(
    curve: Curve, lanes: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", lanes)
    g2 = curve.g2
    points = np.tile(encode_points(g2, [g2.generator]), (n, 1, 1, 1))
    scalars = np.random.default_rng(1).integers(0, 2**60, (n, 4), np.uint64)
    meter = Meter()
    with meter.counting():
        msm(g2, points, scalars, serial)
    codes_bytes, scratch_bytes = 4 * n, sum(array.nbytes for array in new_scratch(g2.field))
    reserved_bytes = sizes.msm_bytes(Counts(n, n, curve))
    assert codes_bytes + scratch_bytes < meter.peak_bytes <= reserved_bytes < 2.5 * meter.peak_bytes


@pytest.mark.parametrize("curve", [BN254, BLS12_381])
@pytest.mark.parametrize("lanes", ["off", "auto"])
def test_a_sum_over_a_table_takes_no_more_memory_than_is_reserved(
    curve: Curve, lanes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", lanes)
    g1, n = curve.g1, LEAST_DOMAIN
    table = make_table(g1, np.tile(encode_points(g1, [g1.generator]), (n, 1, 1)), serial)
    scalars = np.random.default_rng(1).integers(0, 2**60, (n, 4), np.uint64)
    meter = Meter()
    with meter.counting():
        msm(g1, table, scalars, serial)
    counts = Counts(n, n, curve)
    assert sizes.table_bytes(counts) == table.points.nbytes
    assert meter.peak_bytes <= sizes.msm_bytes(counts, with_table=True) < 3 * meter.peak_bytes
