"""What a batch asks of the engine: a request for each of its proofs."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from engine import CircuitSpec, ProofRequest
from engine.outputs import proof_folder
from flows.batch import BatchParameters
from flows.due import due_at
from flows.inputs import input_files, with_input
from policy import Priority


class Requests:
    """By the proof's index from 0; made when it is asked for, since there may be a million."""

    def __init__(self, parameters: BatchParameters, circuit: CircuitSpec, output: Path) -> None:
        """Raises ConfigError or EngineError for inputs that the circuit cannot use."""
        self._parameters, self._circuit, self._output = parameters, circuit, output
        self._inputs = input_files(parameters.inputs)
        for path in self._inputs:
            with_input(circuit, path)
        self._priority = None if parameters.priority is None else Priority[parameters.priority.upper()]
        due = parameters.due
        self._due = None if due is None else due_at(due, datetime.now().astimezone())

    def folders(self) -> Iterator[Path]:
        """Where each of the proofs goes."""
        return (proof_folder(self._output, self._name(index)) for index in range(self._parameters.count))

    def __getitem__(self, index: int) -> ProofRequest:
        name = self._name(index)
        circuit = with_input(self._circuit, self._inputs[index]) if self._inputs else self._circuit
        folder = proof_folder(self._output, name)
        return ProofRequest(circuit, name, folder, self._parameters.partitions, self._priority, self._due)

    def _name(self, index: int) -> str:
        return f"{self._circuit.name} #{index + 1}"
