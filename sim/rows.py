"""A simulated run as rows of the history, derived from its log; the same rows as a real run's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from db import Machine, MemorySample, PolicyEvent, Record, Run, Settings, Stage
from policy import Limits, PartitionId
from policy.codec import encode_decision, encode_event, encode_limits
from sim.lives import Life, RunRows
from sim.log import LogEntry
from sim.profile import MachineProfile
from sim.waits import Causes

Values = dict[str, Any]
"""A row as its columns' values by name."""


class Recordable(Protocol):
    """A simulated run with its log: sim.SimulatedRun, and sim.HostRun, are some.

    `settings`: what it was simulated under, as JSON values. `proof_count`: None for as many as were begun.
    `resident_bytes` after each entry of the log; empty where nobody followed it.
    """

    @property
    def limits(self) -> Limits: ...
    @property
    def profile(self) -> MachineProfile: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def log(self) -> Sequence[LogEntry]: ...
    @property
    def resident_bytes(self) -> Sequence[int]: ...
    @property
    def wait_causes(self) -> Mapping[PartitionId, str]: ...
    @property
    def stage_causes(self) -> Mapping[PartitionId, Causes]: ...
    @property
    def peak_reserved_bytes(self) -> int: ...
    @property
    def end_s(self) -> float: ...
    @property
    def proof_count(self) -> int | None: ...


def rows_of(
    run: Recordable, name: str, code_version: str
) -> tuple[list[Record], list[tuple[type[Record], Iterator[Values]]]]:
    """The rows of run, proofs and partitions, and then, by their table, those that are many.

    The first are the machine, the settings and the run's own: it starts now and ends as much later as it
    took in simulated time.
    """
    machine = Machine.of(run.profile.model_dump(mode="json"))
    settings = Settings.of(run.settings)
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
        (MemorySample, _samples(row.id, run.log, run.resident_bytes)),
    ]
    return [machine, settings, row, *rows.proofs.values(), *[life.row for life in lives]], many


def _stages(
    lives: Mapping[PartitionId, Life], stage_causes: Mapping[PartitionId, Causes]
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


def _samples(run_id: str, log: Sequence[LogEntry], resident_bytes: Sequence[int]) -> Iterator[Values]:
    resident: Sequence[int | None] = resident_bytes or [None] * len(log)
    for sequence, (entry, rss_bytes) in enumerate(zip(log, resident, strict=True)):
        yield {
            "run_id": run_id,
            "sequence": sequence,
            "at_s": entry.at_s,
            "rss_bytes": rss_bytes,
            "reserved_bytes": entry.reserved_bytes,
        }


def _run_row(run: Recordable, name: str, code_version: str) -> Run:
    row = Run(
        source="sim",
        name=name,
        state="succeeded",
        proof_count=run.proof_count,
        budget_bytes=run.limits.budget_bytes,
        policy_limits=encode_limits(run.limits),
        code_version=code_version,
        peak_reserved_bytes=run.peak_reserved_bytes,
    )
    row.ended_at = row.started_at + timedelta(seconds=run.end_s)
    return row
