"""Which runs and partitions a question is about."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, or_, select

from db.hiding import hidden_host
from db.log_models import Summary
from db.models import Partition, Proof, Run, Source


@dataclass(frozen=True)
class Filter:
    """What is asked about; None: everything. `since` and `until` bound the start of runs, and have a zone.

    `circuit`, `device` and `state` are of partitions and proofs; where runs are listed, `state` is of the run
    and a run counts that has a proof of the circuit, and a partition on the device.
    """

    circuit: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    source: Source | None = None
    host: str | None = None
    state: str | None = None
    device: str | None = None
    run_ids: tuple[str, ...] | None = None
    flow_run_id: str | None = None

    def of_runs(self) -> list[ColumnElement[bool]]:
        """Conditions on Run that hold for whatever is asked."""
        conditions: list[ColumnElement[bool]] = []
        if self.run_ids is not None:
            conditions.append(Run.id.in_(self.run_ids))
        if self.flow_run_id is not None:
            conditions.append(Run.flow_run_id == self.flow_run_id)
        if self.since is not None:
            conditions.append(Run.started_at >= self.since)
        if self.until is not None:
            conditions.append(Run.started_at < self.until)
        if self.source is not None:
            conditions.append(Run.source == self.source)
        if self.host is not None:
            conditions.append(Run.host.in_((self.host, hidden_host(self.host))))
        return conditions

    def of_listed_runs(self) -> list[ColumnElement[bool]]:
        """Conditions on Run where runs are what is asked for."""
        conditions = self.of_runs()
        if self.state is not None:
            conditions.append(Run.state == self.state)
        if self.circuit is not None:
            of_circuit = select(Proof.id).where(Proof.run_id == Run.id, Proof.circuit == self.circuit)
            conditions.append(of_circuit.exists())
        if self.device is not None:
            conditions.append(_proved_by(self.device))
        return conditions


def _proved_by(device: str) -> ColumnElement[bool]:
    """Of a run that is over its sums tell it, which are few."""
    summed = select(Summary.run_id).where(Summary.run_id == Run.id, Summary.device == device)
    partitions = select(Partition.id).join(Proof, Partition.proof_id == Proof.id)
    going_on = partitions.where(Proof.run_id == Run.id, Partition.device == device)
    return or_(summed.exists(), and_(Run.packed.is_(False), going_on.exists()))


EVERYTHING = Filter()
