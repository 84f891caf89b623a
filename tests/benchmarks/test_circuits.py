"""Generated circuits: satisfied, of the size and shape that they promise, and files that snarkjs accepts."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.circuits.bits import INPUT_WORDS, WORD_BITS, bits
from benchmarks.circuits.dense import ADDEND, dense
from benchmarks.circuits.files import Instance, write_instance
from benchmarks.circuits.prepared import GENERATED, Circuit, prepare
from benchmarks.circuits.shaped import (
    POREP_CONSTRAINTS,
    POREP_KINDS,
    Shape,
    draw_witness,
    porep_shape,
    shaped,
)
from groth16.r1cs import Csr, read_r1cs
from groth16.witness import read_witness
from kernels.encoding import limbs_to_ints
from kernels.fields import BN254, CURVES, Curve
from kernels.parallel import serial

ROOT = Path(__file__).parents[2]
MAKERS = list(GENERATED.values())
Make = Callable[[Curve, int], Instance]


def products(matrix: Csr, values: list[int], modulus: int) -> list[int]:
    """Matrix times vector by Python's integers."""
    coefficients = limbs_to_ints(matrix.coefficients)
    terms = [c * values[wire] for c, wire in zip(coefficients, matrix.columns, strict=True)]
    starts = matrix.row_starts
    return [sum(terms[starts[i] : starts[i + 1]]) % modulus for i in range(len(starts) - 1)]


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("make", MAKERS, ids=list(GENERATED))
@pytest.mark.parametrize("size", [512, 1000])
def test_every_constraint_holds_and_none_is_missing(make: Make, curve: Curve, size: int) -> None:
    made = make(curve, size)
    values = limbs_to_ints(made.witness.values)
    a, b, c = (
        products(matrix, values, curve.fr.modulus) for matrix in (made.r1cs.a, made.r1cs.b, made.r1cs.c)
    )
    assert len(a) == size == made.r1cs.n_constraints
    assert [x * y % curve.fr.modulus for x, y in zip(a, b, strict=True)] == c
    assert len(values) == made.r1cs.n_wires


def test_a_chain_is_one_and_its_end_is_public() -> None:
    made = dense(BN254, 3)
    one, last, first, *_ = limbs_to_ints(made.witness.values)
    for _ in range(3):
        first = (first * first + ADDEND) % BN254.fr.modulus
    assert (one, last) == (1, first)
    assert made.r1cs.n_public == 1


def test_a_chain_uses_every_wire_but_its_end_and_the_constant_in_a_and_b() -> None:
    made = dense(BN254, 100)
    assert set(made.r1cs.a.columns) == set(made.r1cs.b.columns) == set(range(2, made.r1cs.n_wires))


def test_bits_are_bits_and_have_few_points_as_real_circuits_do() -> None:
    made = bits(BN254, 20_000)
    assert made.witness.values.max() == 1
    used = {name: len(set(getattr(made.r1cs, name).columns)) / made.r1cs.n_wires for name in "abc"}
    assert 0.6 < used["a"] < 0.8
    assert 0.3 < used["b"] < 0.4
    assert used["c"] > 0.98
    assert 0.4 < made.witness.values[:, 0].mean() < 0.6


def test_too_few_constraints_for_bits_are_refused() -> None:
    with pytest.raises(ValueError, match=str(INPUT_WORDS * WORD_BITS)):
        bits(BN254, 511)


@pytest.mark.parametrize("percent", [1, 10, 100])
def test_a_porep_circuit_has_the_published_proportions(percent: int) -> None:
    made = POREP_KINDS[f"porep-{percent}"](BN254, 20_000)
    values, wires = made.witness.values, made.r1cs.n_wires
    is_bit = ~values[:, 1:].any(axis=1) & (values[:, 0] < 2)
    assert abs(1 - is_bit[1:].mean() - percent / 100) < 0.01
    assert len(set(made.r1cs.a.columns)) == wires - 1  # 129,753,292 of 130,170,221
    assert 0.24 < len(set(made.r1cs.b.columns)) / wires < 0.26  # 33,112,281
    terms = [len(getattr(made.r1cs, name).columns) / 20_000 for name in "abc"]
    assert terms == [2.375, 1.0, 2.0]  # 309,405,051, 130,327,340 and 282,656,500 of 130,278,869
    assert made.r1cs.n_public == 1


def test_the_published_partition_is_of_the_published_size() -> None:
    shape = porep_shape(POREP_CONSTRAINTS, 0.1)
    assert (shape.n_wires, shape.n_public, shape.n_private) == (130_170_221, 327, 130_169_893)


def test_a_witness_of_half_bits_has_as_many_ones_as_zeros() -> None:
    values = draw_witness(BN254.fr, Shape(9000, 9001, 3, 0.5), serial)
    is_bit = ~values[:, 1:].any(axis=1)
    assert 0.48 < is_bit.mean() < 0.52
    assert 0.48 < values[is_bit, 0].mean() < 0.52
    assert len(np.unique(values[~is_bit], axis=0)) == (~is_bit).sum()


@pytest.mark.parametrize(
    "shape", [(9, 11, 0, 0.1), (9, 4, 0, 0.1), (9, 8, 8, 0.1), (40, 9, 0, 0.1), (9, 9, 1, 1.1)]
)
def test_a_shape_that_no_circuit_has_is_refused(shape: tuple[int, int, int, float]) -> None:
    with pytest.raises(ValueError, match=r"expected|cannot"):
        Shape(*shape)


def test_wires_start_again_behind_the_last() -> None:
    made = shaped(BN254, Shape(11, 6, 2, 1.0))
    assert max(made.r1cs.a.columns) == made.r1cs.n_wires - 1
    assert set(made.r1cs.a.columns) == set(range(1, 6))


@pytest.mark.parametrize("make", MAKERS, ids=list(GENERATED))
def test_files_say_what_was_made(make: Make, tmp_path: Path) -> None:
    made = make(BN254, 600)
    write_instance(made, tmp_path / "c.r1cs", tmp_path / "c.wtns")
    read = read_r1cs(tmp_path / "c.r1cs")
    assert {**vars(read), "a": 0, "b": 0, "c": 0} == {**vars(made.r1cs), "a": 0, "b": 0, "c": 0}
    for name in "abc":
        ours, theirs = getattr(made.r1cs, name), getattr(read, name)
        for part in ("row_starts", "columns", "coefficients"):
            assert np.array_equal(getattr(ours, part), getattr(theirs, part)), (name, part)
    assert np.array_equal(read_witness(tmp_path / "c.wtns").values, made.witness.values)


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("make", MAKERS, ids=list(GENERATED))
def test_snarkjs_accepts_circuit_and_witness(make: Make, curve: Curve, tmp_path: Path) -> None:
    write_instance(make(curve, 520), tmp_path / "c.r1cs", tmp_path / "c.wtns")
    snarkjs = ROOT / "node_modules/.bin/snarkjs"
    command = [snarkjs, "wtns", "check", tmp_path / "c.r1cs", tmp_path / "c.wtns"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "WITNESS CHECKING FINISHED SUCCESSFULLY" in done.stdout, done.stdout


@pytest.mark.parametrize("text", ["dense", "dense:", "dense:x", "dense:0", "round:10", ":10", "dense:-1"])
def test_a_circuit_that_is_none_is_refused_with_the_kinds(text: str) -> None:
    with pytest.raises(ValueError, match="dense, bits, porep-1, porep-10, porep-100, sha256"):
        Circuit.parse(text)


def test_files_are_made_once(tmp_path: Path) -> None:
    said: list[str] = []
    first = prepare(Circuit.parse("dense:20"), BN254, tmp_path, said.append)
    stamp = first.r1cs.stat().st_mtime_ns
    again = prepare(Circuit.parse("dense:20"), BN254, tmp_path, said.append)
    assert first == again
    assert again.r1cs.stat().st_mtime_ns == stamp
    assert said == ["making dense-20-bn254.r1cs"]
