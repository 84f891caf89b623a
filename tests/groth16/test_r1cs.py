from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groth16.errors import InputError
from groth16.r1cs import Csr, R1cs, first_failing_constraint, read_r1cs, read_r1cs_header
from groth16.witness import Witness, read_witness
from kernels.encoding import ints_to_limbs, limbs_to_ints
from kernels.fields import CURVES
from tests.groth16 import oracle
from tests.groth16.samples import CURVES as NAMES
from tests.groth16.samples import patched, rebuilt, refuses, sample, sections_of


def write(folder: Path, circuit: oracle.Circuit) -> R1cs:
    path = folder / "circuit.r1cs"
    path.write_bytes(oracle.r1cs_bytes(circuit))
    return read_r1cs(path)


def rows_of(matrix: Csr) -> list[oracle.Row]:
    values = limbs_to_ints(matrix.coefficients)
    spans = zip(matrix.row_starts[:-1].tolist(), matrix.row_starts[1:].tolist(), strict=True)
    return [dict(zip(matrix.columns[a:b].tolist(), values[a:b], strict=True)) for a, b in spans]


@given(curve=st.sampled_from(NAMES), seed=st.integers(0, 2**32), n_constraints=st.integers(0, 20))
def test_reads_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, curve: str, seed: int, n_constraints: int
) -> None:
    circuit = oracle.random_circuit(curve, seed, n_constraints, n_public=3)
    folder = tmp_path_factory.mktemp("r1cs")
    r1cs = write(folder, circuit)
    assert [rows_of(matrix) for matrix in (r1cs.a, r1cs.b, r1cs.c)] == [circuit.a, circuit.b, circuit.c]
    assert (r1cs.curve.name, r1cs.n_constraints, r1cs.n_wires) == (curve, n_constraints, len(circuit.witness))
    assert (r1cs.n_public_outputs, r1cs.n_public_inputs, r1cs.n_public) == (1, 2, 3)
    header = vars(read_r1cs_header(folder / "circuit.r1cs"))
    assert header.items() <= vars(r1cs).items()
    assert r1cs.a.row_starts.dtype == np.int64
    assert (r1cs.a.columns.dtype, r1cs.a.coefficients.dtype) == (np.uint32, np.uint64)


@pytest.mark.parametrize("curve", NAMES)
def test_circoms_circuit_fits_circoms_witness(curve: str) -> None:
    r1cs, witness = read_r1cs(sample(curve, "sample.r1cs")), read_witness(sample(curve, "sample.wtns"))
    assert (r1cs.n_constraints, r1cs.n_wires, r1cs.n_public) == (5, 14, 3)
    assert first_failing_constraint(r1cs, witness) is None


@given(seed=st.integers(0, 2**32), wire=st.integers(1, 6))
def test_the_first_failing_constraint_is_named(
    tmp_path_factory: pytest.TempPathFactory, seed: int, wire: int
) -> None:
    circuit = oracle.random_circuit("bn254", seed, n_constraints=8)
    r1cs = write(tmp_path_factory.mktemp("r1cs"), circuit)
    values = circuit.witness.copy()
    values[wire] = (values[wire] + 1) % circuit.modulus
    failing = [
        index
        for index, (a, b, c) in enumerate(zip(circuit.a, circuit.b, circuit.c, strict=True))
        if (oracle.dot(a, values) * oracle.dot(b, values) - oracle.dot(c, values)) % circuit.modulus
    ]
    witness = Witness(r1cs.curve, ints_to_limbs(values, 4))
    assert first_failing_constraint(r1cs, witness) == (failing[0] if failing else None)


def test_a_witness_of_another_circuit_is_refused() -> None:
    r1cs = read_r1cs(sample("bn254", "sample.r1cs"))
    with pytest.raises(InputError, match="must match"):
        first_failing_constraint(r1cs, read_witness(sample("bls12381", "sample.wtns")))
    with pytest.raises(InputError, match="has 2 values, the circuit 14 wires"):
        first_failing_constraint(r1cs, Witness(CURVES["bn254"], ints_to_limbs([1, 2], 4)))


def with_header(n_wires: int, n_constraints: int, modulus: int = oracle.MODULI["bn254"]) -> bytes:
    counts = struct.pack("<IIIIQI", n_wires, 1, 1, 0, n_wires, n_constraints)
    return struct.pack("<I", 32) + modulus.to_bytes(32, "little") + counts


def one_term(wire: int, coefficient: int) -> bytes:
    return struct.pack("<II", 1, wire) + coefficient.to_bytes(32, "little")


EMPTY = struct.pack("<I", 0)
TERM = one_term(2, 1)


@pytest.mark.parametrize(
    ("header", "constraints", "words"),
    [
        (with_header(3, 1), TERM + TERM, "ends after 0 constraints of 1"),
        (with_header(3, 2), 3 * TERM, "ends after 1 constraints of 2"),
        (with_header(3, 1), 3 * TERM + EMPTY, "its 1 constraints take 120"),
        (with_header(3, 1), TERM + TERM + struct.pack("<I", 2**32 - 1), "its 1 constraints take"),
        (with_header(3, 1), TERM + TERM + TERM[:-4], "its 1 constraints take"),
        (with_header(3, 1), 3 * TERM + b"\0", "no whole number of 32-bit words"),
        (with_header(2, 1), 3 * TERM, "counts 2 wires, fewer than its inputs and outputs"),
        (with_header(3, 1), TERM + one_term(3, 1) + TERM, "names wire 3, the circuit has 3"),
        (with_header(3, 1), TERM + one_term(1, oracle.MODULI["bn254"]) + TERM, "modulus in constraint 0"),
        (with_header(3, 1, modulus=97), 3 * TERM, "names the field of modulus 97, expected"),
        (struct.pack("<I", 2**31), 3 * TERM, "stores field elements in 2147483648 bytes"),
        (with_header(3, 1)[:-1], 3 * TERM, "expected at least 64"),
    ],
)
def test_inconsistent_files_are_refused(
    tmp_path: Path, header: bytes, constraints: bytes, words: str
) -> None:
    changed = rebuilt(sample("bn254", "sample.r1cs"), tmp_path / "bad.r1cs", {1: header, 2: constraints})
    refuses(read_r1cs, changed, words)


def test_custom_gates_are_refused_and_an_empty_list_of_them_is_not(tmp_path: Path) -> None:
    path = rebuilt(sample("bn254", "sample.r1cs"), tmp_path / "gates.r1cs", {4: EMPTY, 5: EMPTY})
    assert read_r1cs(path).n_constraints == 5
    rebuilt(path, path, {5: struct.pack("<II", 1, 0)})
    refuses(read_r1cs, path, "custom gates")


def test_a_short_field_is_refused(tmp_path: Path) -> None:
    header = sections_of(sample("bn254", "sample.r1cs"))[1]
    path = rebuilt(
        sample("bn254", "sample.r1cs"), tmp_path / "x", {1: patched(header, 0, struct.pack("<I", 40))}
    )
    refuses(read_r1cs, path, "section 1")
