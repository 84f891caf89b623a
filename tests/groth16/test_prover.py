from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from groth16.errors import InputError, VerificationFailed
from groth16.key_scalars import Toxic
from groth16.prover import assemble, multiply_all, prove
from groth16.verification_key import verification_key_of
from groth16.verifier import verify
from groth16.witness import read_witness
from kernels.cpu.tables import make_table
from kernels.encoding import decode_points
from kernels.fields import CURVES
from kernels.parallel import PoolRunner, serial
from tests.groth16 import oracle, proving

CURVE_NAMES = sorted(CURVES)
BN254_R = oracle.MODULI["bn254"]


def prove_and_verify(circuit: oracle.Circuit, folder: Path) -> None:
    key, proof = proving.prove_files(proving.set_up(circuit, folder))
    verify(verification_key_of(key), circuit.public, proof)


@pytest.mark.parametrize("curve", CURVE_NAMES)
def test_blinded_points_are_the_papers(curve: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = oracle.random_circuit(curve, seed=6, n_constraints=7, n_public=2, n_private=5)
    draw = Random(6)
    values = [draw.randrange(1, circuit.modulus) for _ in range(4)]
    monkeypatch.setattr("groth16.setup.draw_toxic", lambda *_: Toxic(*values))
    files = proving.set_up(circuit, tmp_path)
    key, sums = proving.sums_of(files)
    g1, g2 = CURVES[curve].g1, CURVES[curve].g2
    for r, s in ((0, 0), (circuit.modulus - 1, 1), (draw.randrange(circuit.modulus), 3)):
        proof = assemble(key, sums, r, s)
        a, b, c = oracle.proof_exponents(circuit, oracle.Toxic(*values), r, s)
        assert decode_points(g1, np.stack([proof.a, proof.c])) == [
            oracle.g1_point(curve, a),
            oracle.g1_point(curve, c),
        ]
        assert decode_points(g2, proof.b[np.newaxis]) == [oracle.g2_point(curve, b)]


@pytest.mark.parametrize("curve", CURVE_NAMES)
@pytest.mark.parametrize(
    ("n_constraints", "n_public", "n_private", "witness_below"),
    [
        pytest.param(6, 0, 5, None, id="no public signals"),
        pytest.param(3, 300, 5, None, id="hundreds of public signals"),
        pytest.param(6, 4, 0, None, id="no private signals"),
        pytest.param(6, 0, 0, None, id="only the wire that is one"),
        pytest.param(0, 2, 3, None, id="no constraints"),
        pytest.param(0, 0, 0, None, id="nothing at all"),
        pytest.param(1, 0, 40, None, id="unused wires"),
        pytest.param(13, 2, 5, None, id="a domain filled to the last row"),
        pytest.param(14, 2, 5, None, id="one row beyond a power of two"),
        pytest.param(9, 2, 9, 1, id="all values zero"),
        pytest.param(9, 2, 9, 2, id="values zero and one"),
    ],
)
def test_edges(
    tmp_path: Path,
    curve: str,
    n_constraints: int,
    n_public: int,
    n_private: int,
    witness_below: int | None,
) -> None:
    prove_and_verify(
        oracle.random_circuit(curve, 7, n_constraints, n_public, n_private, witness_below), tmp_path
    )


@pytest.mark.parametrize("value", [1, BN254_R - 1, 2**64 - 1, 2**128])
def test_a_witness_of_equal_values(tmp_path: Path, value: int) -> None:
    circuit = oracle.Circuit("bn254", 1, 0, [1] + [value] * 6)
    for wire in range(1, 6):
        circuit.constrain({wire: 1}, {wire + 1: BN254_R - 1}, {0: 5, 2: 1})
    prove_and_verify(circuit, tmp_path)


def test_threads_and_one_thread_give_the_same_sums(tmp_path: Path) -> None:
    circuit = oracle.random_circuit("bn254", seed=8, n_constraints=5000, n_public=3, n_private=4000)
    files = proving.set_up(circuit, tmp_path)
    with ThreadPoolExecutor(2) as executor:
        _, threaded = proving.sums_of(files, PoolRunner(executor, 2))
    key, alone = proving.sums_of(files, serial)
    for name in ("a", "b_g1", "b_g2", "c", "h"):
        assert (getattr(threaded, name) == getattr(alone, name)).all(), name
    verify(verification_key_of(key), circuit.public, assemble(key, threaded, 5, 6))


@pytest.mark.parametrize("curve", CURVE_NAMES)
def test_a_table_of_multiples_gives_the_same_sums(curve: str, tmp_path: Path) -> None:
    circuit = oracle.random_circuit(curve, seed=8, n_constraints=300, n_public=3, n_private=200)
    key, witness, scalars = proving.quotient_of(proving.set_up(circuit, tmp_path))
    tabled = replace(key, h_table=make_table(CURVES[curve].g1, key.h, serial))
    found, expected = (multiply_all(each, witness, scalars, serial) for each in (tabled, key))
    assert (found.h == expected.h).all()
    verify(verification_key_of(key), circuit.public, prove(tabled, witness, scalars, serial))


def test_no_two_proofs_are_equal(tmp_path: Path) -> None:
    files = proving.set_up(oracle.random_circuit("bn254", seed=9), tmp_path)
    first, second = (proving.prove_files(files)[1] for _ in range(2))
    for name in ("a", "b", "c"):
        assert (getattr(first, name) != getattr(second, name)).any(), name


@pytest.mark.parametrize(
    ("curve", "extra", "words"), [("bn254", 1, "values"), ("bls12381", 0, "witness on bls12381")]
)
def test_a_witness_of_another_circuit_or_curve_is_refused(
    tmp_path: Path, curve: str, extra: int, words: str
) -> None:
    files = proving.set_up(oracle.random_circuit("bn254", seed=9), tmp_path)
    key, _, scalars = proving.quotient_of(files)
    other = oracle.random_circuit(curve, seed=9, n_private=4 + extra)
    with pytest.raises(InputError, match=words):
        prove(key, read_witness(proving.write_circuit(other, tmp_path).wtns), scalars, serial)


@pytest.mark.parametrize("curve", CURVE_NAMES)
def test_a_witness_that_fails_one_constraint_gives_no_valid_proof(tmp_path: Path, curve: str) -> None:
    circuit = oracle.random_circuit(curve, seed=10, n_constraints=6, n_public=1, n_private=4)
    circuit.constrain({2: 1}, {3: 1}, {4: 1})
    files = proving.set_up(circuit, tmp_path)
    circuit.c[-1][0] = (circuit.c[-1][0] + 1) % circuit.modulus
    wrong = proving.set_up(circuit, tmp_path)
    assert wrong == files
    key, proof = proving.prove_files(wrong)
    with pytest.raises(VerificationFailed, match="witness does not satisfy the circuit"):
        verify(verification_key_of(key), circuit.public, proof)
