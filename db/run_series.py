"""What happened in one run, in the order of time: its stages and waits, the policy's log, memory samples."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Double, select, type_coerce

from db.history import History
from db.log_models import DeviceSample, MemorySample, PolicyEvent, PolicyLog, PoolSample
from db.models import Partition, Proof, Stage, StageName
from db.policy_log import unpack


@dataclass(frozen=True)
class Span:
    """A stage of a partition: from when to when, None while it lasts, and what a wait was for.

    `device`: where the partition is proved, None before.
    """

    partition: str
    stage: StageName
    started_s: float
    ended_s: float | None
    wait_cause: str | None
    circuit: str = ""
    device: str | None = None


def waits(history: History, run_id: str) -> list[tuple[str | None, float]]:
    """Cause and seconds of each wait that is over, for memory, a load, a slot or a device, by its start."""
    seconds = type_coerce(Stage.ended_s - Stage.started_s, Double)
    ended = (
        select(Stage.wait_cause, seconds)
        .join(Partition, Stage.partition_id == Partition.id)
        .join(Proof, Partition.proof_id == Proof.id)
        .where(Proof.run_id == run_id, Stage.name.in_(("wait", "load", "queue")), Stage.ended_s.is_not(None))
        .order_by(Stage.started_s, Stage.partition_id, Stage.sequence)
    )
    with history.read() as session:
        return [(cause, float(wait_s)) for cause, wait_s in session.execute(ended)]


def stage_spans(history: History, run_id: str) -> list[Span]:
    """All stages of a run, those of a partition together, by the partitions' admission."""
    columns = (Proof.name, Partition.index, Proof.partition_count, Stage.name, Stage.started_s, Stage.ended_s)
    of_run = (
        select(*columns, Stage.wait_cause, Proof.circuit, Partition.device)
        .join(Partition, Stage.partition_id == Partition.id)
        .join(Proof, Partition.proof_id == Proof.id)
        .where(Proof.run_id == run_id)
        .order_by(Proof.submitted_s, Proof.id, Partition.index, Stage.sequence)
    )
    with history.read() as session:
        return [_span(*row) for row in session.execute(of_run)]


def _span(proof: str, index: int, count: int, stage: StageName, *rest: Any) -> Span:
    return Span(proof if count == 1 else f"{proof} [{index + 1}/{count}]", stage, *rest)


def policy_events(history: History, run_id: str) -> list[PolicyEvent]:
    """A run's policy events in their order, packed or not yet: what a replay is fed with."""
    events = select(PolicyEvent).where(PolicyEvent.run_id == run_id).order_by(PolicyEvent.sequence)
    packed = select(PolicyLog.packed).where(PolicyLog.run_id == run_id).order_by(PolicyLog.sequence)
    with history.read() as session:  # events first: some may be packed before the second question
        rows = list(session.scalars(events))
        packs = session.scalars(packed).all()
    first = rows[0].sequence if rows else None
    unpacked = (each for pack in packs for each in unpack(pack))
    older = [each for each in unpacked if first is None or each["sequence"] < first]
    return [PolicyEvent(run_id=run_id, **each) for each in older] + rows


def memory_samples(history: History, run_id: str) -> list[MemorySample]:
    """A run's memory samples by time."""
    samples = select(MemorySample).where(MemorySample.run_id == run_id)
    with history.read() as session:
        return list(session.scalars(samples.order_by(MemorySample.at_s, MemorySample.sequence)))


def device_samples(history: History, run_id: str) -> list[DeviceSample]:
    """A run's samples of the devices' memory by time."""
    samples = select(DeviceSample).where(DeviceSample.run_id == run_id)
    with history.read() as session:
        return list(session.scalars(samples.order_by(DeviceSample.at_s, DeviceSample.sequence)))


def pool_samples(history: History, run_id: str) -> list[PoolSample]:
    """A run's samples of pools of threads by time, of a process that was watched from outside."""
    samples = select(PoolSample).where(PoolSample.run_id == run_id)
    with history.read() as session:
        return list(session.scalars(samples.order_by(PoolSample.at_s, PoolSample.sequence)))
