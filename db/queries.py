"""Questions to the history, answered with typed rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Double, Select, String, cast, func, select, type_coerce
from sqlalchemy.orm import Session

from db.errors import HistoryError
from db.filters import EVERYTHING, Filter
from db.history import History
from db.log_models import MemorySample, PolicyEvent, PolicyLog
from db.models import Machine, Partition, Proof, Run, Settings, Stage, StageName
from db.policy_log import unpack

_ENDED = ("succeeded", "failed", "cancelled")


@dataclass(frozen=True)
class RunSummary:
    """A run, how many proofs were asked for, how many of them succeeded, and the seconds that they took.

    `seconds` are from the first submission to the end of the last that ended, well or not; None where none
    did. They leave out what comes before and after: opening the engine, and closing it.
    """

    run: Run
    proof_count: int
    succeeded_count: int
    seconds: float | None

    @property
    def seconds_a_proof(self) -> float | None:
        """Over the proofs that succeeded."""
        if self.seconds is None or not self.succeeded_count:
            return None
        return self.seconds / self.succeeded_count


@dataclass(frozen=True)
class StageSeconds:
    """Seconds in each stage, ended ones only."""

    wait_s: float = 0.0
    load_s: float = 0.0
    synthesize_s: float = 0.0
    queue_s: float = 0.0
    prove_s: float = 0.0
    verify_s: float = 0.0

    def __add__(self, other: "StageSeconds") -> "StageSeconds":
        names = self.__dataclass_fields__
        return StageSeconds(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True)
class PartitionDetail:
    """A partition and its seconds in each stage."""

    partition: Partition
    seconds: StageSeconds


@dataclass(frozen=True)
class ProofDetail:
    """A proof, its partitions by index, and their seconds added up."""

    proof: Proof
    partitions: tuple[PartitionDetail, ...]
    seconds: StageSeconds = field(init=False)

    def __post_init__(self) -> None:
        total = sum((detail.seconds for detail in self.partitions), start=StageSeconds())
        object.__setattr__(self, "seconds", total)


@dataclass(frozen=True)
class RunDetail:
    """A run, its proofs in the order of their submission, and what they depended on."""

    run: Run
    proofs: tuple[ProofDetail, ...]
    machine: Mapping[str, Any] | None = None
    config: Mapping[str, Any] | None = None

    @property
    def summary(self) -> RunSummary:
        """Its sums, as in the list of runs."""
        proofs = [detail.proof for detail in self.proofs]
        ends = [each.ended_s for each in proofs if each.state in _ENDED and each.ended_s is not None]
        seconds = max(ends) - min(each.submitted_s for each in proofs) if ends else None
        succeeded = sum(each.state == "succeeded" for each in proofs)
        return RunSummary(self.run, self.run.proof_count or len(proofs), succeeded, seconds)


@dataclass(frozen=True)
class Span:
    """A stage of a partition: from when to when, None while it lasts, and what a wait was for."""

    partition: str
    stage: StageName
    started_s: float
    ended_s: float | None
    wait_cause: str | None


def list_runs(history: History, limit: int = 20, where: Filter = EVERYTHING) -> list[RunSummary]:
    """The newest runs, the newest first."""
    newest = select(Run).order_by(Run.started_at.desc(), Run.id.desc()).limit(limit)
    with history.read() as session:
        runs = session.scalars(newest.where(*where.of_listed_runs())).all()
        rows = session.execute(_sums([run.id for run in runs])).all()
    sums = {run_id: (begun, good, seconds) for run_id, begun, good, seconds in rows}
    return [_summary(run, *sums.get(run.id, (0, 0, None))) for run in runs]


def _sums(run_ids: Sequence[str]) -> Select[str, int, int, float | None]:
    """By run: its proofs so far, those that succeeded, and the seconds as in RunSummary."""
    good = Proof.state == "succeeded"
    seconds = func.max(Proof.ended_s).filter(Proof.state.in_(_ENDED)) - func.min(Proof.submitted_s)
    columns = (Proof.run_id, func.count(), func.count().filter(good), type_coerce(seconds, Double))
    return select(*columns).where(Proof.run_id.in_(run_ids)).group_by(Proof.run_id)


def _summary(run: Run, begun: int, succeeded: int, seconds: float | None) -> RunSummary:
    return RunSummary(run, run.proof_count or begun, succeeded, seconds)


def find_run(history: History, id_or_prefix: str) -> Run:
    """The run with that id, or the only one whose id begins so. Raises HistoryError for none or several."""
    prefix = id_or_prefix.strip().lower()
    if not prefix:
        raise HistoryError(f"{history.address}: run {id_or_prefix!r}: expected a run's id; list the runs")
    with history.read() as session:
        found = session.scalars(
            select(Run).where(cast(Run.id, String).startswith(prefix, autoescape=True)).limit(2)
        ).all()
    if len(found) == 1:
        return found[0]
    problem = (
        "more than one run begins so; give more of the id" if found else "no run begins so; list the runs"
    )
    raise HistoryError(f"{history.address}: run {id_or_prefix!r}: {problem}")


def show_run(history: History, run_id: str) -> RunDetail:
    """All of a run. Raises HistoryError where there is no run of that id."""
    with history.read() as session:
        run = session.get(Run, run_id)
        if run is None:
            raise HistoryError(f"{history.address}: run {run_id!r}: there is no such run; list the runs")
        ordered = select(Proof).where(Proof.run_id == run_id).order_by(Proof.submitted_s, Proof.id)
        proofs = session.scalars(ordered).all()
        partitions = _partitions(session, run_id)
        machine = session.get(Machine, run.machine_id) if run.machine_id else None
        config = session.get(Settings, run.config_id) if run.config_id else None
    details = tuple(ProofDetail(proof, tuple(partitions.get(proof.id, ()))) for proof in proofs)
    return RunDetail(
        run,
        details,
        machine.description if machine else None,
        config.settings if config else None,
    )


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
        select(*columns, Stage.wait_cause)
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
    with history.read() as session:
        packs = session.scalars(packed).all()
        rows = list(session.scalars(events))
    return [PolicyEvent(run_id=run_id, **each) for pack in packs for each in unpack(pack)] + rows


def memory_samples(history: History, run_id: str) -> list[MemorySample]:
    """A run's memory samples by time."""
    samples = select(MemorySample).where(MemorySample.run_id == run_id)
    with history.read() as session:
        return list(session.scalars(samples.order_by(MemorySample.at_s, MemorySample.sequence)))


def _partitions(session: Session, run_id: str) -> dict[str, list[PartitionDetail]]:
    """The partitions of a run by proof, each list by index."""
    of_run = select(Partition).join(Proof, Partition.proof_id == Proof.id).where(Proof.run_id == run_id)
    sums = (
        select(Stage.partition_id, Stage.name, type_coerce(func.sum(Stage.ended_s - Stage.started_s), Double))
        .join(Partition, Stage.partition_id == Partition.id)
        .join(Proof, Partition.proof_id == Proof.id)
        .where(Proof.run_id == run_id, Stage.ended_s.is_not(None))
        .group_by(Stage.partition_id, Stage.name)
    )
    seconds: dict[str, dict[str, float]] = {}
    for partition_id, stage, total_s in session.execute(sums):
        seconds.setdefault(partition_id, {})[f"{stage}_s"] = total_s
    details: dict[str, list[PartitionDetail]] = {}
    for partition in session.scalars(of_run.order_by(Partition.index)):
        detail = PartitionDetail(partition, StageSeconds(**seconds.get(partition.id, {})))
        details.setdefault(partition.proof_id, []).append(detail)
    return details
