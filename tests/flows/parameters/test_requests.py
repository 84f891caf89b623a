"""What is asked of the engine for each proof."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine import CircuitSpec, EngineError
from flows.parameters.batch import BatchParameters
from flows.parameters.requests import Requests
from policy import Priority

CALCULATED = CircuitSpec("merkle", Path("merkle.zkey"), wasm=Path("merkle.wasm"), inputs=Path("own.json"))
GIVEN = CircuitSpec("merkle", Path("merkle.zkey"), witness=Path("own.wtns"))


def test_each_proof_has_a_name_and_a_folder_and_the_circuit_s_own_input() -> None:
    requests = Requests(BatchParameters(circuit="merkle"), CALCULATED, Path("to"))
    assert (requests[2].name, requests[2].output_dir) == ("merkle #3", Path("to/merkle-3"))
    assert requests[2].circuit is CALCULATED
    assert (requests[0].priority, requests[0].due) == (None, None)


def test_priority_and_due_time_are_those_of_the_batch() -> None:
    parameters = BatchParameters(circuit="merkle", priority="high", due="2h")
    request = Requests(parameters, CALCULATED, Path("to"))[0]
    assert request.priority is Priority.HIGH
    assert request.due is not None
    assert abs(request.due - datetime.now(UTC) - timedelta(hours=2)) < timedelta(minutes=5)


def test_inputs_are_taken_in_order_as_witness_or_signals(tmp_path: Path) -> None:
    for name in ("a.json", "b.wtns"):
        (tmp_path / name).touch()
    requests = Requests(BatchParameters(circuit="merkle", inputs=[tmp_path]), CALCULATED, Path("to"))
    assert requests[0].circuit.inputs == tmp_path / "a.json"
    assert requests[0].circuit.wasm == CALCULATED.wasm
    assert (requests[1].circuit.witness, requests[1].circuit.wasm) == (tmp_path / "b.wtns", None)


def test_signals_for_a_circuit_without_a_calculator_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    with pytest.raises(EngineError, match=r"a\.json: circuit 'merkle' has no wasm"):
        Requests(BatchParameters(circuit="merkle", inputs=[tmp_path]), GIVEN, Path("to"))
