"""The formulas of `counts` against operations that are counted while they are done."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from benchmarks import counts
from benchmarks.circuits.bits import bits
from benchmarks.circuits.files import write_instance
from benchmarks.circuits.shaped import Shape
from groth16.r1cs import read_r1cs
from groth16.setup import setup
from groth16.witness import read_witness
from groth16.zkey import read_header
from kernels.cpu.windows import window_count
from kernels.fields import BN254
from kernels.parallel import serial


def test_a_partitions_products_are_those_of_its_sums_and_the_quotient() -> None:
    shape = Shape(1000, 1001, 3, significant=0.25)
    products = counts.shape_products(BN254, shape, 10)
    every, private, b = counts.Scalars(375, 0, 250), counts.Scalars(374, 0, 249), counts.Scalars(94, 0, 62)
    quotient = counts.Scalars(0, 0, 1024)
    g1 = [counts.msm_products(BN254.g1, each) for each in (every, b, private, quotient)]
    assert products == {
        **counts.sum_products(g1),
        **counts.msm_products(BN254.g2, b),
        BN254.fr.name: counts.quotient_products(10),
    }


def counted_bucket_additions(scalars: list[int], scalar_bits: int, window_bits: int) -> tuple[int, int]:
    """The bucket method on integers in place of points: additions, and Σ scalar·number to check it by."""
    numbers = [random.Random(i).randrange(1 << 30) for i in range(len(scalars))]
    half, additions, total, rest = 1 << (window_bits - 1), 0, 0, list(scalars)
    windows = window_count(1 << scalar_bits, window_bits)
    for window in range(windows):
        buckets: dict[int, int] = {}
        for i, number in enumerate(numbers):
            digit = rest[i] if window == windows - 1 else rest[i] % (2 * half)
            digit -= 2 * half if digit >= half and window < windows - 1 else 0
            rest[i] = (rest[i] - digit) // (2 * half)
            if digit:
                additions += abs(digit) in buckets
                signed = number if digit > 0 else -number
                buckets[abs(digit)] = buckets.get(abs(digit), 0) + signed
        running = 0
        for digit in range(half, 0, -1):
            if digit in buckets:
                running += buckets[digit]
                additions += 1
            total += running << window * window_bits
            additions += 1
    assert rest == [0] * len(scalars)
    assert total == sum(s * n for s, n in zip(scalars, numbers, strict=True))
    return additions, total


@pytest.mark.parametrize(("n", "scalar_bits"), [(60, 64), (1000, 64), (1000, 254)])
def test_additions_of_a_sum_are_those_of_the_bucket_method(n: int, scalar_bits: int) -> None:
    source = random.Random(n)
    scalars = [source.randrange(1 << scalar_bits) for _ in range(n)]
    counted = min(counted_bucket_additions(scalars, scalar_bits, bits_)[0] for bits_ in range(2, 14))
    assert counts.msm_additions(n, scalar_bits) == pytest.approx(counted, rel=0.05)


@pytest.mark.parametrize("log2_size", [0, 1, 2, 7])
def test_products_of_a_transform_are_its_butterflies(log2_size: int) -> None:
    def butterflies(size: int) -> int:
        return 0 if size == 1 else size // 2 + 2 * butterflies(size // 2)

    assert counts.ntt_products(log2_size) == butterflies(1 << log2_size)


def test_kinds_leave_out_zeros_and_points_at_infinity() -> None:
    values = np.zeros((6, 4), np.uint64)
    values[:, 0] = [0, 1, 1, 7, 7, 0]
    values[5, 3] = 9
    points = np.ones((6, 2, 4), np.uint64)
    points[2] = points[4] = 0
    assert counts.kinds(points, values) == counts.Scalars(ones=1, short=1, long=1)


def test_products_of_a_proof_name_the_fields_they_are_in(tmp_path: Path) -> None:
    write_instance(bits(BN254, 512), tmp_path / "c.r1cs", tmp_path / "c.wtns")
    setup(read_r1cs(tmp_path / "c.r1cs"), tmp_path / "c.zkey", serial)
    header, witness = read_header(tmp_path / "c.zkey"), read_witness(tmp_path / "c.wtns")
    products = counts.proof_products(header, witness)
    # All wires are bits: a sum of ones has no products but additions, and h is as long as the domain.
    ones = int(counts.kinds(counts.points_of(header, "b_g2"), witness.values).ones)
    assert products["BN254.Fq2"] == 6 * (ones - 1)
    log2_size = header.domain_size.bit_length() - 1
    transforms = 6 * counts.ntt_products(log2_size) + 3 * header.domain_size
    # All 512 constraints are s·(s − 1) = 0: no coefficient but ±1.
    assert products["BN254.Fr"] == transforms + 3 * header.domain_size
    assert products["BN254.Fq"] > 6 * counts.msm_additions(header.domain_size, 254)
