"""The tables, as typed rows: run → proof → partition → stage, and a run's memory samples and policy events.

A row is a dataclass built by keyword; what is not known yet keeps its default and is filled in by an update.
Never put an input, a witness or a key's secret into a row.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column
from typing_extensions import override

from db.ids import new_id
from db.process import host_name, this_process_started_at

Source = Literal["real", "sim"]
RunState = Literal["running", "succeeded", "failed", "cancelled", "interrupted"]
State = Literal["waiting", "running", "succeeded", "failed", "cancelled", "interrupted"]
StageName = Literal["wait", "load", "synthesize", "queue", "prove", "verify"]

_ID_LENGTH = 36
_Json = JSON(none_as_null=True)  # kept as written; PostgreSQL's jsonb would reorder keys
_Counter = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by INTEGER alone


class UtcDateTime(TypeDecorator[datetime]):
    """A time with a zone, kept as UTC; SQLite, which knows no zones, gives it back as UTC too."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value} has no time zone, expected one: the history keeps UTC")
        return value.astimezone(UTC) if value is not None else None

    @override
    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)


class Record(MappedAsDataclass, DeclarativeBase):
    """A row of any table."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        float: Double,
        int: BigInteger,
        datetime: UtcDateTime,
        Mapping[str, Any]: _Json,
    }


def _id() -> Mapped[str]:
    return mapped_column(String(_ID_LENGTH), primary_key=True, default_factory=new_id)


def _parent(column: str, *, index: bool = True, primary_key: bool = False) -> Mapped[str]:
    key = ForeignKey(column, ondelete="CASCADE")
    return mapped_column(String(_ID_LENGTH), key, index=index, primary_key=primary_key)


class Run(Record, kw_only=True):
    """One batch, on this machine or a modelled one. By default one of this process that starts now.

    `config`, `machine` and `policy_limits` are snapshots as JSON objects; the proofs lie in `output_path`.
    """

    __tablename__ = "run"

    id: Mapped[str] = _id()
    source: Mapped[Source] = mapped_column(String(16))
    name: Mapped[str]
    state: Mapped[RunState] = mapped_column(String(16), default="running", index=True)
    started_at: Mapped[datetime] = mapped_column(default_factory=lambda: datetime.now(UTC), index=True)
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    budget_bytes: Mapped[int | None] = mapped_column(default=None)
    host: Mapped[str] = mapped_column(default_factory=host_name)
    pid: Mapped[int] = mapped_column(default_factory=os.getpid)
    process_started_at: Mapped[datetime] = mapped_column(default_factory=this_process_started_at)
    machine: Mapped[Mapping[str, Any] | None] = mapped_column(_Json, default=None)
    config: Mapped[Mapping[str, Any] | None] = mapped_column(_Json, default=None)
    policy_limits: Mapped[Mapping[str, Any] | None] = mapped_column(_Json, default=None)
    code_version: Mapped[str]
    peak_rss_bytes: Mapped[int | None] = mapped_column(default=None)
    peak_reserved_bytes: Mapped[int | None] = mapped_column(default=None)
    flow_run_id: Mapped[str | None] = mapped_column(default=None)
    output_path: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)


class Proof(Record, kw_only=True):
    """One request: a circuit proved once, in one or more partitions. `name` tells it from others of a run."""

    __tablename__ = "proof"

    id: Mapped[str] = _id()
    run_id: Mapped[str] = _parent("run.id")
    name: Mapped[str]
    circuit: Mapped[str] = mapped_column(index=True)
    priority: Mapped[str] = mapped_column(String(16), default="normal")
    partition_count: Mapped[int] = mapped_column(default=1)
    state: Mapped[State] = mapped_column(String(16), default="waiting")
    submitted_s: Mapped[float]
    ended_s: Mapped[float | None] = mapped_column(default=None)
    proof_path: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)


class Partition(Record, kw_only=True):
    """One Groth16 proof of a request. `measured_bytes` is what it really took, `wait_cause` why it waited."""

    __tablename__ = "partition"
    __table_args__ = (UniqueConstraint("proof_id", "index"),)

    id: Mapped[str] = _id()
    proof_id: Mapped[str] = _parent("proof.id", index=False)
    index: Mapped[int]
    state: Mapped[State] = mapped_column(String(16), default="waiting")
    reserved_bytes: Mapped[int | None] = mapped_column(default=None)
    measured_bytes: Mapped[int | None] = mapped_column(default=None)
    device: Mapped[str | None] = mapped_column(default=None)
    wait_cause: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)


class Stage(Record, kw_only=True):
    """A span of a partition's life; `ended_s` is None while it lasts, and for good if the process dies.

    `wait_cause`: what a wait lasted longest for, such as "memory"; None for work.
    """

    __tablename__ = "stage"

    id: Mapped[str] = _id()
    partition_id: Mapped[str] = _parent("partition.id")
    name: Mapped[StageName] = mapped_column(String(16))
    started_s: Mapped[float]
    ended_s: Mapped[float | None] = mapped_column(default=None)
    wait_cause: Mapped[str | None] = mapped_column(String(16), default=None)


class MemorySample(Record, kw_only=True):
    """Resident and reserved bytes at one moment; of the first, `file_bytes` are pages of mapped files.

    `number` is given by the database.
    """

    __tablename__ = "memory_sample"

    number: Mapped[int] = mapped_column(_Counter, primary_key=True, autoincrement=True, init=False)
    run_id: Mapped[str] = _parent("run.id")
    at_s: Mapped[float]
    rss_bytes: Mapped[int | None] = mapped_column(default=None)
    reserved_bytes: Mapped[int]
    file_bytes: Mapped[int | None] = mapped_column(default=None)


class PolicyEvent(Record, kw_only=True):
    """One event given to the policy, with the decisions it made: the log from which a run can be replayed."""

    __tablename__ = "policy_event"

    run_id: Mapped[str] = _parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at_s: Mapped[float]
    event: Mapped[Mapping[str, Any]] = mapped_column(_Json)
    decisions: Mapped[list[Any]] = mapped_column(_Json)
