"""The bundled circuits: what is committed fits together, and fits the Python that makes the inputs."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from examples import CIRCUITS, BundledCircuit
from examples.merkle.make_input import DEPTH, MODULI, make_input
from groth16.errors import InputError
from groth16.inputs import read_inputs
from groth16.r1cs import first_failing_constraint, read_r1cs
from groth16.witness import Witness
from groth16.witness_calculator import WitnessCalculator
from kernels.encoding import limbs_to_ints
from kernels.fields import CURVES

MERKLE = ("merkle", "merkle-bls12381")


def test_names_and_files() -> None:
    assert set(CIRCUITS) == {"multiplier", "merkle", "multiplier-bls12381", "merkle-bls12381"}
    for name, circuit in CIRCUITS.items():
        assert circuit.name == name
        assert all(path.stat().st_size < 3 << 20 for path in (circuit.r1cs, circuit.wasm, circuit.inputs))


@pytest.mark.parametrize("circuit", CIRCUITS.values(), ids=CIRCUITS)
def test_the_input_satisfies_the_circuit(circuit: BundledCircuit) -> None:
    r1cs = read_r1cs(circuit.r1cs)
    witness = WitnessCalculator(circuit.wasm).calculate(read_inputs(circuit.inputs))
    assert r1cs.curve.name == ("bls12381" if circuit.name.endswith("bls12381") else "bn254")
    assert witness.curve is r1cs.curve
    assert first_failing_constraint(r1cs, witness) is None


@pytest.mark.parametrize("name", MERKLE)
def test_merkle_nearly_fills_a_domain_of_2_to_the_14(name: str) -> None:
    r1cs = read_r1cs(CIRCUITS[name].r1cs)
    assert r1cs.n_public == 1
    assert 15_500 < r1cs.n_constraints + r1cs.n_public + 1 <= 1 << 14


@pytest.mark.parametrize("name", MERKLE)
def test_the_committed_input_is_what_the_script_makes(name: str) -> None:
    curve = read_r1cs(CIRCUITS[name].r1cs).curve
    assert MODULI[curve.name] == curve.fr.modulus
    assert json.loads(CIRCUITS[name].inputs.read_text()) == make_input(curve.name)


@pytest.mark.parametrize("name", MERKLE)
def test_any_leaf_and_index_have_the_scripts_root(name: str) -> None:
    draw = random.Random(name)
    calculator = WitnessCalculator(CIRCUITS[name].wasm)
    curve = "bls12381" if "bls" in name else "bn254"
    leaf, index = draw.randrange(CURVES[curve].fr.modulus), draw.randrange(1 << DEPTH)
    value = make_input(curve, leaf, index)
    witness = calculator.calculate(value)
    assert limbs_to_ints(witness.values[1:3]) == [int(str(value["root"])), leaf]


WRONG: list[dict[str, Any]] = [
    {"root": "1"},
    {"leaf": "43"},
    {"siblings": ["7"] * DEPTH},
    {"directions": ["0"] * DEPTH},
    {"directions": ["2"] + ["0"] * (DEPTH - 1)},
]


@pytest.mark.parametrize("change", WRONG)
def test_what_is_not_in_the_tree_is_refused(change: dict[str, Any]) -> None:
    calculator = WitnessCalculator(CIRCUITS["merkle"].wasm)
    with pytest.raises(InputError, match="does not hold: Error in template MerkleInclusion"):
        calculator.calculate(make_input("bn254") | change)


def test_directions_are_constrained_to_be_bits() -> None:
    """By the circuit, not only by the calculator: a row of this wire and the constant alone refuses 2."""
    r1cs = read_r1cs(CIRCUITS["merkle"].r1cs)
    witness = WitnessCalculator(CIRCUITS["merkle"].wasm).calculate(make_input("bn254"))
    first = 3 + DEPTH  # after 1, root, leaf and the siblings
    directions = limbs_to_ints(witness.values[first : first + DEPTH])
    assert directions == [11_184_810 >> level & 1 for level in range(DEPTH)]
    for wire in (first, first + DEPTH // 2, first + DEPTH - 1):
        changed = Witness(witness.curve, witness.values.copy())
        changed.values[wire, 0] = 2
        row = first_failing_constraint(r1cs, changed)
        assert row is not None
        wires = {
            int(w) for m in (r1cs.a, r1cs.b, r1cs.c) for w in m.columns[slice(*m.row_starts[row : row + 2])]
        }
        assert wires == {0, wire}
