"""A simulated run as rows of the history, derived from its log; the same rows as a real run's."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from db import (
    Machine,
    MemorySample,
    Partition,
    PolicyEvent,
    Proof,
    Record,
    Run,
    Settings,
    Stage,
    StageName,
    State,
)
from policy import (
    Admit,
    Complete,
    Decision,
    Event,
    Evict,
    Fail,
    Failed,
    Job,
    Loaded,
    LoadFailed,
    PartitionId,
    Prove,
    Proved,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Verified,
)
from policy.codec import encode_decision, encode_event, encode_limits
from sim.machine import LogEntry
from sim.run import SimulatedRun
from sim.waits import Causes

Values = dict[str, Any]
"""A row as its columns' values by name."""


@dataclass(slots=True)
class _Span:
    """A stage of a partition; it becomes a row at the end, since an object of the history is dear."""

    name: StageName
    started_s: float
    ended_s: float | None = None


@dataclass(slots=True)
class _Life:
    """A partition's row, its stages so far, and the entries it still waits for."""

    row: Partition
    stages: list[_Span] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    stopping: bool = False

    def enter(self, stage: StageName, at_s: float) -> None:
        self.leave(at_s)
        self.stages.append(_Span(stage, at_s))

    def leave(self, at_s: float) -> None:
        if self.stages and self.stages[-1].ended_s is None:
            self.stages[-1].ended_s = at_s

    def end(self, state: State, error: str | None, at_s: float) -> None:
        self.leave(at_s)
        self.missing.clear()
        self.row.state, self.row.error = ("cancelled", None) if self.stopping else (state, error)


class RunRows:
    """Goes through a log and keeps the rows of proofs, partitions and stages as it goes."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._jobs: dict[str, Job] = {}
        self.proofs: dict[str, Proof] = {}
        self.lives: dict[PartitionId, _Life] = {}
        self._in_memory: set[str] = set()
        self._awaiting: dict[str, list[_Life]] = {}  # by the key of an entry that loads

    def take(self, event: Event, decisions: tuple[Decision, ...], at_s: float) -> None:
        self._happened(event, at_s)
        for decision in decisions:
            self._decided(decision, at_s)

    def _happened(self, event: Event, at_s: float) -> None:
        match event:
            case Submit(job):
                self._submitted(job, at_s)
            case Loaded(key):
                self._loaded(key, at_s)
            case LoadFailed(key, why):
                for life in self._waiting_for(key):
                    life.end("failed", why, at_s)
            case Synthesized(partition):
                self.lives[partition].enter("queue", at_s)
            case Proved(partition):
                self.lives[partition].enter("verify", at_s)
            case Verified(partition):
                self.lives[partition].end("succeeded", None, at_s)
            case Failed(partition, why):
                self.lives[partition].end("failed", why, at_s)

    def _decided(self, decision: Decision, at_s: float) -> None:
        match decision:
            case Stop(partition):
                self.lives[partition].stopping = True
            case Evict(entry):
                self._in_memory.discard(entry.key)
            case Admit(partition, reserved_bytes):
                self._admitted(partition, reserved_bytes, at_s)
            case Synthesize(partition):
                self.lives[partition].enter("synthesize", at_s)
            case Prove(partition, device):
                self.lives[partition].row.device = device
                self.lives[partition].enter("prove", at_s)
            case Complete(job_id):
                self._job_ended(job_id, "succeeded", None, at_s)
            case Fail(job_id, why) | Reject(job_id, why):
                self._job_ended(job_id, "cancelled" if why == "cancelled" else "failed", why, at_s)

    def _submitted(self, job: Job, at_s: float) -> None:
        self._jobs[job.id] = job
        proof = self.proofs[job.id] = Proof(
            run_id=self._run_id,
            name=job.id,
            circuit=job.circuit.name,
            priority=job.priority.name.lower(),
            partition_count=job.partitions,
            submitted_s=at_s,
        )
        for index in range(job.partitions):
            life = _Life(Partition(proof_id=proof.id, index=index))
            life.enter("wait", at_s)
            self.lives[PartitionId(job.id, index)] = life

    def _admitted(self, partition: PartitionId, reserved_bytes: int, at_s: float) -> None:
        life = self.lives[partition]
        life.row.state, life.row.reserved_bytes = "running", reserved_bytes
        life.enter("load", at_s)
        entries = self._jobs[partition.job_id].circuit.entries
        life.missing = {entry.key for entry in entries if entry.key not in self._in_memory}
        for key in life.missing:
            self._awaiting.setdefault(key, []).append(life)
        if not life.missing:
            life.enter("wait", at_s)

    def _loaded(self, key: str, at_s: float) -> None:
        self._in_memory.add(key)
        for life in self._waiting_for(key):
            life.missing.remove(key)
            if not life.missing:
                life.enter("wait", at_s)

    def _waiting_for(self, key: str) -> list[_Life]:
        """Those that still wait for the entry; it will not be waited for any more."""
        return [life for life in self._awaiting.pop(key, ()) if key in life.missing]

    def _job_ended(self, job_id: str, state: State, error: str | None, at_s: float) -> None:
        proof = self.proofs[job_id]
        proof.state, proof.error, proof.ended_s = state, error, at_s
        for index in range(proof.partition_count):
            life = self.lives[PartitionId(job_id, index)]
            if life.row.state in ("waiting", "running"):
                life.end("cancelled", None, at_s)


def rows_of(
    run: SimulatedRun, name: str, code_version: str
) -> tuple[list[Record], list[tuple[type[Record], Iterator[Values]]]]:
    """The rows of run, proofs and partitions, and then, by their table, those that are many.

    The first are the machine, the settings and the run's own: it starts now and ends as much later as it
    took in simulated time.
    """
    machine = Machine.of(run.profile.model_dump(mode="json"))
    settings = _settings(run)
    row = _run_row(run, name, code_version)
    row.machine_id, row.config_id = machine.id, settings.id
    rows = RunRows(row.id)
    for entry in run.log:
        rows.take(entry.event, entry.decisions, entry.at_s)
    if any(proof.state != "succeeded" for proof in rows.proofs.values()):
        row.state = "failed"
    for partition, life in rows.lives.items():
        life.row.wait_cause = run.wait_causes.get(partition)
    lives = rows.lives.values()
    many: list[tuple[type[Record], Iterator[Values]]] = [
        (Stage, _stages(rows.lives, run.stage_causes)),
        (PolicyEvent, _policy_events(row.id, run.log)),
        (MemorySample, _samples(row.id, run.log)),
    ]
    return [machine, settings, row, *rows.proofs.values(), *[life.row for life in lives]], many


def _stages(
    lives: Mapping[PartitionId, _Life], stage_causes: Mapping[PartitionId, Causes]
) -> Iterator[Values]:
    for partition, life in lives.items():
        causes = {name: iter(each) for name, each in stage_causes.get(partition, {}).items()}
        for sequence, span in enumerate(life.stages):
            yield {
                "partition_id": life.row.id,
                "sequence": sequence,
                "name": span.name,
                "started_s": span.started_s,
                "ended_s": span.ended_s,
                "wait_cause": next(causes.get(span.name, iter(())), None),
            }


def _policy_events(run_id: str, log: Iterable[LogEntry]) -> Iterator[Values]:
    for sequence, entry in enumerate(log):
        yield {
            "run_id": run_id,
            "sequence": sequence,
            "at_s": entry.at_s,
            "event": encode_event(entry.event),
            "decisions": [encode_decision(decision) for decision in entry.decisions],
        }


def _samples(run_id: str, log: Iterable[LogEntry]) -> Iterator[Values]:
    for sequence, entry in enumerate(log):
        yield {
            "run_id": run_id,
            "sequence": sequence,
            "at_s": entry.at_s,
            "reserved_bytes": entry.reserved_bytes,
        }


def _run_row(run: SimulatedRun, name: str, code_version: str) -> Run:
    row = Run(
        source="sim",
        name=name,
        state="succeeded",
        proof_count=run.batch.count,
        budget_bytes=run.limits.budget_bytes,
        policy_limits=encode_limits(run.limits),
        code_version=code_version,
        peak_reserved_bytes=run.peak_reserved_bytes,
    )
    row.ended_at = row.started_at + timedelta(seconds=run.end_s)
    return row


def _settings(run: SimulatedRun) -> Settings:
    batch = run.batch
    return Settings.of(
        {
            "policy": run.policy,
            "seed": run.seed,
            "circuit": batch.circuit.name,
            "count": batch.count,
            "concurrency": batch.concurrency,
            "partitions": batch.partitions,
            "priority": batch.priority.name.lower(),
        }
    )
