"""All of one run: its proofs and partitions, and the seconds of their stages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Double, func, select, type_coerce
from sqlalchemy.orm import Session

from db.errors import HistoryError
from db.history import History
from db.models import Machine, Partition, Proof, Run, Settings, Stage
from db.runs import ENDED, RunSummary


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
        ends = [each.ended_s for each in proofs if each.state in ENDED and each.ended_s is not None]
        seconds = max(ends) - min(each.submitted_s for each in proofs) if ends else None
        succeeded = sum(each.state == "succeeded" for each in proofs)
        return RunSummary(self.run, self.run.proof_count or len(proofs), succeeded, seconds)


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
