"""The lives of a simulated run's partitions, followed through its log: which stage from when to when."""

from dataclasses import dataclass, field

from db import Partition, Proof, StageName, State
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


@dataclass(slots=True)
class StageSpan:
    """A stage of a partition; it becomes a row at the end, since an object of the history is dear."""

    name: StageName
    started_s: float
    ended_s: float | None = None


@dataclass(slots=True)
class Life:
    """A partition's row, its stages so far, and the entries it still waits for."""

    row: Partition
    stages: list[StageSpan] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    stopping: bool = False

    def enter(self, stage: StageName, at_s: float) -> None:
        self.leave(at_s)
        self.stages.append(StageSpan(stage, at_s))

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
        self.lives: dict[PartitionId, Life] = {}
        self._in_memory: set[str] = set()
        self._awaiting: dict[str, list[Life]] = {}  # by the key of an entry that loads

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
            life = Life(Partition(proof_id=proof.id, index=index))
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

    def _waiting_for(self, key: str) -> list[Life]:
        """Those that still wait for the entry; it will not be waited for any more."""
        return [life for life in self._awaiting.pop(key, ()) if key in life.missing]

    def _job_ended(self, job_id: str, state: State, error: str | None, at_s: float) -> None:
        proof = self.proofs[job_id]
        proof.state, proof.error, proof.ended_s = state, error, at_s
        for index in range(proof.partition_count):
            life = self.lives[PartitionId(job_id, index)]
            if life.row.state in ("waiting", "running"):
                life.end("cancelled", None, at_s)
