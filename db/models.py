"""The tables of what was done, as typed rows: run → proof → partition → stage, and a run's circumstances.

A row is a dataclass built by keyword; what is not known yet keeps its default and is filled in by an update.
Never put an input, a witness or a key's secret into a row.

Migrations make the tables. What they say to one database alone is not repeated here, as that a table of
SQLite has no rowid, or which rows are in an index: it would load both dialects whenever a history is opened.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.digest import digest
from db.process import host_name, this_process_started_at
from db.record import Id, Json, Record, id_column, number, parent

Source = Literal["real", "sim", "bench"]
RunState = Literal["running", "succeeded", "failed", "cancelled", "interrupted"]
State = Literal["waiting", "running", "succeeded", "failed", "cancelled", "interrupted"]
StageName = Literal["wait", "load", "synthesize", "queue", "prove", "verify"]

DIGEST_LENGTH = 32


class Machine(Record, kw_only=True):
    """What a run's times depend on, as a JSON object, once for all runs on the like; its id is its digest."""

    __tablename__ = "machine"

    id: Mapped[str] = mapped_column(String(DIGEST_LENGTH), primary_key=True)
    description: Mapped[Mapping[str, Any]] = mapped_column(Json)

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> "Machine":
        """The row of that description."""
        return cls(id=digest(description), description=description)


class Settings(Record, kw_only=True):
    """A snapshot of settings, as a JSON object, once for all runs under the same; its id is its digest."""

    __tablename__ = "config"

    id: Mapped[str] = mapped_column(String(DIGEST_LENGTH), primary_key=True)
    settings: Mapped[Mapping[str, Any]] = mapped_column(Json)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Settings":
        """The row of those settings."""
        return cls(id=digest(settings), settings=settings)


class Run(Record, kw_only=True):
    """One batch, on this machine or a modelled one. By default one of this process that starts now.

    `proof_count` is how many proofs were asked for, whether begun or not; `policy_limits` a JSON object; the
    proofs lie in `output_path`. `packed`: the run is over and db.packing has been through its rows.
    """

    __tablename__ = "run"

    id: Mapped[str] = id_column()
    source: Mapped[Source] = mapped_column(String(16))
    name: Mapped[str]
    state: Mapped[RunState] = mapped_column(String(16), default="running", index=True)
    started_at: Mapped[datetime] = mapped_column(default_factory=lambda: datetime.now(UTC), index=True)
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    proof_count: Mapped[int | None] = mapped_column(default=None)
    budget_bytes: Mapped[int | None] = mapped_column(default=None)
    available_bytes: Mapped[int | None] = mapped_column(default=None)
    host: Mapped[str] = mapped_column(default_factory=host_name)
    pid: Mapped[int] = mapped_column(default_factory=os.getpid)
    process_started_at: Mapped[datetime] = mapped_column(default_factory=this_process_started_at)
    machine_id: Mapped[str | None] = mapped_column(
        String(DIGEST_LENGTH), ForeignKey("machine.id"), default=None
    )
    config_id: Mapped[str | None] = mapped_column(
        String(DIGEST_LENGTH), ForeignKey("config.id"), default=None
    )
    policy_limits: Mapped[Mapping[str, Any] | None] = mapped_column(Json, default=None)
    code_version: Mapped[str]
    peak_rss_bytes: Mapped[int | None] = mapped_column(default=None)
    peak_reserved_bytes: Mapped[int | None] = mapped_column(default=None)
    flow_run_id: Mapped[str | None] = mapped_column(default=None)
    output_path: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)
    packed: Mapped[bool] = mapped_column(default=False)


class Proof(Record, kw_only=True):
    """One request: a circuit proved once, in one or more partitions. `name` tells it from others of a run."""

    __tablename__ = "proof"
    __table_args__ = (Index("ix_proof_not_well", "run_id"),)

    id: Mapped[str] = id_column()
    run_id: Mapped[str] = parent("run.id")
    name: Mapped[str]
    circuit: Mapped[str]
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

    id: Mapped[str] = id_column()
    proof_id: Mapped[str] = parent("proof.id", index=False)
    index: Mapped[int]
    state: Mapped[State] = mapped_column(String(16), default="waiting")
    reserved_bytes: Mapped[int | None] = mapped_column(default=None)
    measured_bytes: Mapped[int | None] = mapped_column(default=None)
    device: Mapped[str | None] = mapped_column(default=None)
    wait_cause: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)


class Stage(Record, kw_only=True):
    """A span of a partition's life; `ended_s` is None while it lasts, and for good if the process dies.

    `sequence` counts a partition's stages. `wait_cause`: what a wait lasted longest for, such as "memory";
    None for work. `task_run_id`: the Prefect task that showed it.
    """

    __tablename__ = "stage"

    partition_id: Mapped[str] = parent("partition.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    name: Mapped[StageName] = mapped_column(String(16))
    started_s: Mapped[float]
    ended_s: Mapped[float | None] = mapped_column(default=None)
    wait_cause: Mapped[str | None] = mapped_column(String(16), default=None)
    task_run_id: Mapped[str | None] = mapped_column(Id, default=None)
