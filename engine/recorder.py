"""What happens in a run, as rows of the history: stages as spans, the policy's log, memory samples."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from config import Config
from db import (
    DeviceSample,
    Machine,
    MemorySample,
    Partition,
    PolicyEvent,
    Proof,
    Record,
    Run,
    RunState,
    Settings,
    Source,
    Stage,
    StageName,
    State,
)
from engine.limits import Memory, memory, threads
from engine.monitor import Sample
from policy import Decision, Event, Job, Limits, PartitionId
from policy.codec import encode_decision, encode_event, encode_limits

SAMPLES_FOR_S = 2.0


class Writer(Protocol):
    """Takes rows without blocking; db.HistoryWriter is one."""

    def insert(self, row: Record, /) -> None: ...
    def insert_values(self, model: type[Record], rows: Sequence[Mapping[str, Any]], /) -> None: ...
    def update(self, model: type[Record], key: str | tuple[str, int], /, **values: Any) -> None: ...
    def flush(self) -> object: ...


class NoWriter:
    """For a run that leaves no history."""

    def insert(self, row: Record, /) -> None: ...
    def insert_values(self, model: type[Record], rows: Sequence[Mapping[str, Any]], /) -> None: ...
    def update(self, model: type[Record], key: str | tuple[str, int], /, **values: Any) -> None: ...
    def flush(self) -> None: ...


@dataclass(frozen=True)
class RunLabels:
    """What the caller knows of a run and the engine does not; `proof_count`: how many it will ask for."""

    name: str = "batch"
    code_version: str = "unknown"
    flow_run_id: str | None = None
    output_path: str | None = None
    proof_count: int | None = None


@dataclass
class _Rows:
    """The row of a partition, how many stages it has had, the last of each name, and whether one is open."""

    partition_id: str
    stage_count: int = 0
    latest: dict[StageName, int] = field(default_factory=dict)
    open: bool = False
    waited: bool = False


@dataclass
class Recorder:
    """Rows of one run, in the order things happen; called on the event loop, `sample` from any thread.

    Inputs, witnesses and keys never come here.
    """

    writer: Writer
    run_id: str
    _partitions: dict[PartitionId, _Rows] = field(default_factory=dict)
    _event_count: int = 0
    _sample_count: int = 0
    _device_sample_count: int = 0
    _samples: list[Sample] = field(default_factory=list)

    def run_started(
        self,
        labels: RunLabels,
        config: Config,
        limits: Limits,
        policy_name: str,
        source: Source = "real",
    ) -> None:
        found = memory()
        machine, settings = (
            Machine.of(describe(found)),
            Settings.of(config.snapshot() | {"policy": policy_name}),
        )
        self.writer.insert(machine)
        self.writer.insert(settings)
        run = Run(
            id=self.run_id,
            source=source,
            name=labels.name,
            proof_count=labels.proof_count,
            budget_bytes=limits.budget_bytes,
            available_bytes=found.available_bytes,
            machine_id=machine.id,
            config_id=settings.id,
            policy_limits=encode_limits(limits),
            code_version=labels.code_version,
            flow_run_id=labels.flow_run_id,
            output_path=labels.output_path,
        )
        self.writer.insert(run)

    def run_ended(
        self, state: RunState, error: str | None, peak_rss_bytes: int | None, peak_reserved_bytes: int | None
    ) -> None:
        """None: it is not known, as of another process's memory."""
        self._hand_over_samples()
        self.writer.update(
            Run,
            self.run_id,
            state=state,
            ended_at=datetime.now(UTC),
            error=error,
            peak_rss_bytes=peak_rss_bytes,
            peak_reserved_bytes=peak_reserved_bytes,
        )

    def event(self, event: Event, decisions: Sequence[Decision], at_s: float) -> None:
        """The next entry of the log from which the run can be replayed."""
        encoded = [encode_decision(decision) for decision in decisions]
        row = PolicyEvent(
            run_id=self.run_id,
            sequence=self._event_count,
            at_s=at_s,
            event=encode_event(event),
            decisions=encoded,
        )
        self.writer.insert(row)
        self._event_count += 1

    def sample(self, sample: Sample) -> None:
        """Samples come a hundred times a second, so they are handed over many at a time."""
        self._samples.append(sample)
        if sample.at_s - self._samples[0].at_s >= SAMPLES_FOR_S:
            self._hand_over_samples()

    def _hand_over_samples(self) -> None:
        samples, self._samples = self._samples, []
        rows = [
            {
                "run_id": self.run_id,
                "sequence": sequence,
                "at_s": sample.at_s,
                "rss_bytes": sample.rss_bytes,
                "reserved_bytes": sample.reserved_bytes,
                "file_bytes": sample.file_bytes,
            }
            for sequence, sample in enumerate(samples, self._sample_count)
        ]
        self.writer.insert_values(MemorySample, rows)
        self._sample_count += len(rows)
        self._hand_over_device_samples(samples)

    def _hand_over_device_samples(self, samples: Sequence[Sample]) -> None:
        uses = [(sample.at_s, use) for sample in samples for use in sample.devices]
        if uses:
            rows = [
                {"run_id": self.run_id, "sequence": sequence, "at_s": at_s, **use._asdict()}
                for sequence, (at_s, use) in enumerate(uses, self._device_sample_count)
            ]
            self.writer.insert_values(DeviceSample, rows)
            self._device_sample_count += len(rows)

    def submitted(self, job: Job, name: str, at_s: float) -> None:
        """A proof and its partitions, all of which wait."""
        proof = Proof(
            id=job.id,
            run_id=self.run_id,
            name=name,
            circuit=job.circuit.name,
            priority=job.priority.name.lower(),
            partition_count=job.partitions,
            submitted_s=at_s,
        )
        self.writer.insert(proof)
        for index in range(job.partitions):
            row = Partition(proof_id=job.id, index=index)
            self.writer.insert(row)
            self._partitions[PartitionId(job.id, index)] = _Rows(row.id)
            self.enter(PartitionId(job.id, index), "wait", at_s)

    def proof(self, proof_id: str, state: State, **values: Any) -> None:
        """Columns of a proof that have become known."""
        self.writer.update(Proof, proof_id, state=state, **values)

    def publishes(self, proof_id: str, proof_path: Path) -> None:
        """The proof's files are about to get their names, the last of them this one."""
        self.writer.update(Proof, proof_id, proof_path=str(proof_path))

    def partition(self, partition: PartitionId, **values: Any) -> None:
        """Columns of a partition that have become known."""
        self.writer.update(Partition, self._partitions[partition].partition_id, **values)

    def waits(self, partition: PartitionId, cause: str, anew: bool) -> None:
        """Why the partition waits; the first cause is kept, unless a later one is the better known."""
        rows = self._partitions[partition]
        if not rows.waited or anew:
            rows.waited = True
            self.partition(partition, wait_cause=cause)

    def enter(
        self, partition: PartitionId, stage: StageName, at_s: float, wait_cause: str | None = None
    ) -> None:
        """One stage ends, if one was open, and the next begins; `wait_cause` is of the one that ends."""
        self.leave(partition, at_s, wait_cause)
        rows = self._partitions[partition]
        row = Stage(partition_id=rows.partition_id, sequence=rows.stage_count, name=stage, started_s=at_s)
        self.writer.insert(row)
        rows.latest[stage] = rows.stage_count
        rows.stage_count, rows.open = rows.stage_count + 1, True

    def shown_by(self, partition: PartitionId, stage: StageName, task_run_id: str) -> None:
        """The Prefect task run that shows the partition's stage, which has begun."""
        rows = self._partitions[partition]
        self.writer.update(Stage, (rows.partition_id, rows.latest[stage]), task_run_id=task_run_id)

    def forget(self, job_id: str, partitions: int) -> None:
        """Nothing more is recorded of a job that has ended."""
        for index in range(partitions):
            del self._partitions[PartitionId(job_id, index)]

    def leave(self, partition: PartitionId, at_s: float, wait_cause: str | None = None) -> None:
        """The partition's open stage ends; if it was a wait, this was its cause."""
        rows = self._partitions[partition]
        if rows.open:
            key = (rows.partition_id, rows.stage_count - 1)
            self.writer.update(Stage, key, ended_s=at_s, wait_cause=wait_cause)
            rows.open = False


def describe(found: Memory) -> Mapping[str, Any]:
    """What a run's times depend on, the same for every run on a machine."""
    return {
        "system": platform.platform(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "cores": threads(0),
        "memory_bytes": found.total_bytes,
        "memory_limit": found.source,
    }
