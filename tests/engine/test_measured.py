"""Later partitions reserve what earlier ones really took: arrays, the sums' memory, and the calculator's."""

from pathlib import Path
from typing import Any

import pytest

from engine import CircuitSpec, Engine, ProofFailed, ProofRequest, load_shape, stages
from engine.calculator_size import inputs_bytes, instance_bytes
from engine.circuit import open_circuit
from engine.work import Work
from groth16.sizes import witness_bytes
from groth16.zkey import read_header
from kernels.cpu.batch_affine import new_scratch
from policy import Admit, Measured, Proved
from policy.estimates import ENOUGH
from tests.engine.support import CONFIG, Rows, limits_for, run


def prove(spec: CircuitSpec, proofs: int, folder: Path) -> Rows:
    """One after the other; those that fail are passed over."""
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1), rows) as running:
            for number in range(proofs):
                proof_id = running.submit(ProofRequest(spec, str(number), folder / str(number)))
                try:
                    await running.result(proof_id)
                except ProofFailed:
                    continue

    run(steps())
    return rows


def of_kind(rows: Rows, kind: type) -> list[Any]:
    return [message for message in rows.log() if isinstance(message, kind)]


@pytest.mark.parametrize("calculated", [True, False])
def test_the_fourth_proof_reserves_what_three_have_taken(
    multiplier: CircuitSpec, right_witness: CircuitSpec, tmp_path: Path, calculated: bool
) -> None:
    spec = multiplier if calculated else right_witness
    rows, shape, header = prove(spec, ENOUGH + 1, tmp_path), load_shape(spec), read_header(spec.zkey)
    measured = [event.working_bytes for event in of_kind(rows, Measured)]
    assert measured == [row["measured_bytes"] for row in rows.tables["partition"]]
    arrays_bytes = witness_bytes(header) + header.domain_size * 32
    scratch_bytes = sum(array.nbytes for array in new_scratch(header.curve.g2.field))
    for each in measured:
        assert arrays_bytes + scratch_bytes < each <= shape.working_bytes
    reserved = [decision.reserved_bytes for decision in of_kind(rows, Admit)]
    expected = max(*measured[:ENOUGH], -(-shape.working_bytes // 2))
    assert expected < shape.working_bytes
    assert reserved == [shape.working_bytes] * ENOUGH + [expected]


def test_it_is_told_right_before_the_proof_is_there(right_witness: CircuitSpec, tmp_path: Path) -> None:
    log = prove(right_witness, 1, tmp_path).log()
    (at,) = [index for index, message in enumerate(log) if isinstance(message, Measured)]
    assert isinstance(log[at + 1], Proved)


def test_a_partition_without_a_proof_teaches_nothing(
    right_witness: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the device is lost")

    monkeypatch.setattr(stages, "prove_points", fail)
    rows = prove(right_witness, ENOUGH + 1, tmp_path)
    assert of_kind(rows, Measured) == []
    working_bytes = load_shape(right_witness).working_bytes
    assert [each.reserved_bytes for each in of_kind(rows, Admit)] == [working_bytes] * (ENOUGH + 1)


def test_a_proof_that_does_not_verify_has_taken_what_it_took(
    wrong_witness: CircuitSpec, tmp_path: Path
) -> None:
    rows = prove(wrong_witness, 1, tmp_path)
    (row,) = rows.tables["partition"]
    assert row["state"] == "failed"
    assert [each.working_bytes for each in of_kind(rows, Measured)] == [row["measured_bytes"]]


def test_a_calculator_counts_with_its_witness(multiplier: CircuitSpec) -> None:
    assert multiplier.wasm is not None
    assert multiplier.inputs is not None
    circuit = open_circuit(multiplier)
    work = Work(circuit.header)
    stages.witness(work, circuit.witness_source(None))
    most_bytes = instance_bytes(multiplier.wasm) + witness_bytes(circuit.header)
    most_bytes += inputs_bytes(multiplier.inputs)
    assert most_bytes - (1 << 20) < work.measured_bytes <= most_bytes  # its buffer is hardly used
