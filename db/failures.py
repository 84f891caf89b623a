"""What did not go well: proofs that failed or were interrupted, and how many of all."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from db.filters import EVERYTHING, Filter
from db.groups import groups
from db.history import History
from db.models import Partition, Proof, Run

NOT_WELL = ("failed", "interrupted")


@dataclass(frozen=True)
class Failure:
    """A proof that failed, or that was under way when its process died; `at` is when it ended."""

    run_id: str
    proof_id: str
    proof: str
    circuit: str
    state: str
    at: datetime
    error: str | None


@dataclass(frozen=True)
class FailureRate:
    """Of a circuit's partitions, how many did not succeed, by how they ended."""

    circuit: str
    partition_count: int
    failed_count: int
    interrupted_count: int
    cancelled_count: int


def failures(history: History, where: Filter = EVERYTHING, limit: int = 20) -> list[Failure]:
    """The newest, the newest first; of the filter's `state` only, if it has one."""
    states = NOT_WELL if where.state is None else (where.state,)
    asked = (
        select(Proof, Run.started_at)
        .join(Run, Proof.run_id == Run.id)
        .where(Proof.state.in_(NOT_WELL), Proof.state.in_(states), *where.of_runs())
    )
    if where.circuit is not None:
        asked = asked.where(Proof.circuit == where.circuit)
    if where.device is not None:
        partitions = select(Partition.id).where(Partition.proof_id == Proof.id)
        asked = asked.where(partitions.where(Partition.device == where.device).exists())
    newest = asked.order_by(Run.started_at.desc(), Proof.id.desc()).limit(limit)
    with history.read() as session:
        return [_failure(proof, started_at) for proof, started_at in session.execute(newest)]


def _failure(proof: Proof, run_started_at: datetime) -> Failure:
    ended_s = proof.submitted_s if proof.ended_s is None else proof.ended_s
    at = run_started_at + timedelta(seconds=ended_s)
    return Failure(proof.run_id, proof.id, proof.name, proof.circuit, proof.state, at, proof.error)


def failure_rates(history: History, where: Filter = EVERYTHING) -> list[FailureRate]:
    """By circuit, the worst first."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group in groups(history, where):
        counts[group.circuit][group.state] += group.partition_count
    rates = [
        FailureRate(circuit, sum(by.values()), by["failed"], by["interrupted"], by["cancelled"])
        for circuit, by in counts.items()
    ]
    return sorted(rates, key=lambda rate: -rate.failed_count / rate.partition_count)
