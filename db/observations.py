"""What stages of real partitions took, for those who model a machine by it."""

from dataclasses import dataclass

from sqlalchemy import Double, and_, func, or_, select, type_coerce
from sqlalchemy.orm import Session

from db.history import History
from db.log_models import Summary
from db.models import Partition, Proof, Run, Source, Stage, StageName


@dataclass(frozen=True)
class StageObservation:
    """One stage of a partition that succeeded; start and end tell which others went on at the same time."""

    run_id: str
    proof_id: str
    partition_id: str
    device: str | None
    stage: StageName
    started_s: float
    ended_s: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended_s - self.started_s


def stage_seconds(
    history: History, circuit: str, source: Source = "real", newest: int | None = None
) -> list[StageObservation]:
    """What each stage took for partitions of `circuit` that succeeded, in the order of the runs.

    `newest`: of the newest runs that have so many together, and of those that go on; None: of all.
    """
    ended_s = type_coerce(Stage.ended_s, Double)
    columns = (Run.id, Proof.id, Partition.id, Partition.device, Stage.name, Stage.started_s, ended_s)
    observed = (
        select(*columns)
        .select_from(Stage)
        .join(Partition, Stage.partition_id == Partition.id)
        .join(Proof, Partition.proof_id == Proof.id)
        .join(Run, Proof.run_id == Run.id)
        .where(Proof.circuit == circuit, Run.source == source, Partition.state == "succeeded")
        .where(ended_s.is_not(None))
        .order_by(Run.started_at, Run.id, Stage.started_s, Stage.partition_id, Stage.sequence)
    )
    with history.read() as session:
        if newest is not None:
            observed = observed.where(Run.id.in_(_newest_runs(session, circuit, source, newest)))
        return [StageObservation(*row) for row in session.execute(observed)]


def _newest_runs(session: Session, circuit: str, source: Source, newest: int) -> list[str]:
    succeeded = (Summary.circuit == circuit, Summary.state == "succeeded")
    counts = (
        select(Run.id, Run.packed, func.sum(Summary.partition_count))
        .outerjoin(Summary, and_(Summary.run_id == Run.id, *succeeded))
        .where(Run.source == source, or_(Summary.run_id.is_not(None), Run.packed.is_(False)))
        .group_by(Run.id, Run.packed, Run.started_at)
        .order_by(Run.started_at.desc())
    )
    run_ids, partitions = [], 0
    for run_id, packed, count in session.execute(counts):
        if packed and partitions >= newest:
            continue
        run_ids.append(run_id)
        partitions += count or 0
    return run_ids
