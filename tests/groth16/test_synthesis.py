from pathlib import Path

import pytest

from groth16.errors import InputError
from groth16.matrices import read_matrices
from groth16.synthesis import synthesize
from groth16.witness import Witness, read_witness
from groth16.zkey import read_header
from kernels.encoding import limbs_to_ints
from kernels.fields import CURVES
from kernels.parallel import serial
from tests.groth16 import oracle, proving


@pytest.mark.parametrize("curve", sorted(CURVES))
def test_a_b_and_their_product_over_the_domain(tmp_path: Path, curve: str) -> None:
    circuit = oracle.random_circuit(curve, seed=3, n_constraints=9, n_public=3, n_private=5)
    files = proving.set_up(circuit, tmp_path)
    header = read_header(files.zkey)
    result = synthesize(read_matrices(header), read_witness(files.wtns), header.domain_size, serial)

    r, w = circuit.modulus, circuit.witness
    a = [oracle.dot(row, w) % r for row in circuit.a] + w[:4]
    b = [oracle.dot(row, w) % r for row in circuit.b]
    a, b = (values + [0] * (16 - len(values)) for values in (a, b))
    assert limbs_to_ints(result.a) == a
    assert limbs_to_ints(result.b) == b
    over_r = pow(2**256, -1, r)
    assert limbs_to_ints(result.c) == [x * y * over_r % r for x, y in zip(a, b, strict=True)]


def test_evaluations_are_taken_once(tmp_path: Path) -> None:
    files = proving.set_up(oracle.random_circuit("bn254", seed=3), tmp_path)
    header = read_header(files.zkey)
    result = synthesize(read_matrices(header), read_witness(files.wtns), header.domain_size, serial)
    a, b, c = result.take()
    assert a.shape == b.shape == c.shape == (header.domain_size, 4)
    with pytest.raises(AttributeError):
        result.take()


def test_a_witness_too_short_is_refused_before_a_kernel_indexes_it(tmp_path: Path) -> None:
    circuit = oracle.Circuit("bn254", 1, 1, [1, 33, 11, 3])
    circuit.constrain({2: 1}, {3: 1}, {1: 1})
    files = proving.set_up(circuit, tmp_path)
    header, witness = read_header(files.zkey), read_witness(files.wtns)
    short = Witness(witness.curve, witness.values[:3].copy())
    with pytest.raises(InputError, match="has 3 values, the circuit 4 wires"):
        synthesize(read_matrices(header), short, header.domain_size, serial)
