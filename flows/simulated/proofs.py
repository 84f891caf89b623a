"""The proofs of a simulated run, as tasks ask for them: all has happened, so nothing is waited for."""

from collections import defaultdict
from collections.abc import Iterable

from db import RunDetail, Span
from engine import ProofFailed
from engine.proofs import Bar, Stage, StageSummary

PartitionKey = tuple[str, int]


class SimulatedProofs:
    """By the proof's id in the history; a `tasks.source.Source`. Times are simulated seconds."""

    def __init__(self, detail: RunDetail, spans: Iterable[Span]) -> None:
        self._proofs = {each.proof.id: each.proof for each in detail.proofs}
        self._causes = {
            (each.proof.id, part.partition.index): part.partition.wait_cause
            for each in detail.proofs
            for part in each.partitions
        }
        self._spans: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
        for span in spans:
            self._spans[span.partition][span.stage].append(span)

    async def wait_started(self, proof_id: str, stage: Stage, partition: int = 0) -> None:
        self._last(proof_id, stage, partition)

    async def wait_finished(self, proof_id: str, stage: Stage, partition: int = 0) -> StageSummary:
        """The stage's seconds, as often as there was one. Raises ProofFailed where it was never finished."""
        spans = self._stage(proof_id, stage, partition)
        last = self._last(proof_id, stage, partition)
        seconds = sum((span.ended_s or span.started_s) - span.started_s for span in spans)
        return StageSummary(seconds, f"simulated, from {spans[0].started_s:.2f} s to {last.ended_s:.2f} s")

    def has_started(self, proof_id: str, stage: Stage, partition: int = 0) -> bool:
        """A wait counts as one that goes on, so that its cause is told."""
        return stage != "load" or self.waited_s(proof_id, partition) == 0.0

    def has_finished(self, proof_id: str, stage: Stage, partition: int = 0) -> bool:
        spans = self._stage(proof_id, stage, partition)
        return all(span.ended_s == span.started_s for span in spans)

    def times_s(self, proof_id: str, bar: Bar, partition: int = 0) -> None:
        """Simulated seconds are no times of the clock."""

    def waited_s(self, proof_id: str, partition: int = 0) -> float:
        """From the submission to the admission."""
        loads = self._stage(proof_id, "load", partition)
        return loads[0].started_s - self._proofs[proof_id].submitted_s if loads else 0.0

    def has_ended(self, proof_id: str) -> bool:
        return proof_id in self._proofs

    def forget(self, proof_id: str) -> None:
        """The history keeps it."""

    def explain(self, proof_id: str, partition: int = 0) -> str:
        return f"{proof_id}[{partition}] {self._causes[proof_id, partition] or 'waits for its turn'}"

    def shown_by(self, proof_id: str, stage: Stage, partition: int, task_run_id: str) -> None:
        """Of simulated stages the history names no task."""

    def _stage(self, proof_id: str, stage: Stage, partition: int) -> list[Span]:
        proof = self._proofs[proof_id]
        count = proof.partition_count
        name = proof.name if count == 1 else f"{proof.name} [{partition + 1}/{count}]"
        return self._spans[name][stage]

    def _last(self, proof_id: str, stage: Stage, partition: int) -> Span:
        spans = self._stage(proof_id, stage, partition)
        if not spans or spans[-1].ended_s is None:
            raise ProofFailed(self._proofs[proof_id].error or f"{stage} was never finished")
        return spans[-1]
