"""What a batch asks of the engine: a request for each of its proofs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from typing_extensions import override

from engine import CircuitSpec, ProofRequest
from engine.outputs import proof_folder
from flows.parameters.batch import BatchParameters
from flows.parameters.due import due_at
from flows.parameters.inputs import input_files, with_input
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
        self.due = None if due is None else due_at(due, datetime.now().astimezone())

    def folders(self) -> Iterator[Path]:
        """Where each of the proofs goes."""
        return map(self.folder, range(self._parameters.count))

    def folder(self, index: int) -> Path:
        """Where the proof goes."""
        return proof_folder(self._output, self.name(index))

    def __getitem__(self, index: int) -> ProofRequest:
        circuit = with_input(self._circuit, self._inputs[index]) if self._inputs else self._circuit
        name, folder = self.name(index), self.folder(index)
        return ProofRequest(circuit, name, folder, self._parameters.partitions, self._priority, self.due)

    def name(self, index: int) -> str:
        """For people, such as "merkle #2"."""
        return f"{self._circuit.name} #{index + 1}"


class PartitionRequests(Requests):
    """Some partitions of a batch, each asked for as a proof of its own; by their place among `numbers`.

    numbers: the batch's partitions are counted from 0, those of its first proof first.
    """

    def __init__(
        self, parameters: BatchParameters, circuit: CircuitSpec, output: Path, numbers: Sequence[int]
    ) -> None:
        super().__init__(parameters, circuit, output)
        self._numbers, self._partitions = numbers, parameters.partitions or circuit.partitions

    @override
    def __getitem__(self, index: int) -> ProofRequest:
        proof, partition = divmod(self._numbers[index], self._partitions)
        whole = super().__getitem__(proof)
        name = f"{whole.name}, {partition + 1} of {self._partitions}" if self._partitions > 1 else whole.name
        return replace(whole, name=name, output_dir=proof_folder(self._output, name), partitions=1)
