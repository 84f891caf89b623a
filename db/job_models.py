"""The table of what a daemon was asked for, which outlives its process. Never an input: those are files."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.record import Json, Record, id_column

JobState = Literal["accepted", "done", "failed", "cancelled"]


class JobRow(Record, kw_only=True):
    """A job, accepted before anybody is told so. `owner`: the daemon that has its input, by host and folder.

    `proofs`: what it made, once it is done, as the daemon packs it; `timings`: seconds by name;
    `delivered_at`: when a client first had its end.
    """

    __tablename__ = "job"
    __table_args__ = (UniqueConstraint("owner", "request_id"),)

    id: Mapped[str] = id_column()
    owner: Mapped[str]
    request_id: Mapped[str | None] = mapped_column(default=None)
    digest: Mapped[str]
    circuit: Mapped[str]
    kind: Mapped[str]
    name: Mapped[str] = mapped_column(default="")
    priority: Mapped[str | None] = mapped_column(String(16), default=None)
    due_at: Mapped[datetime | None] = mapped_column(default=None)
    partition_count: Mapped[int | None] = mapped_column(default=None)
    until: Mapped[str] = mapped_column(String(16))
    lease_s: Mapped[float] = mapped_column(default=0.0)
    input_path: Mapped[str | None] = mapped_column(default=None)
    state: Mapped[JobState] = mapped_column(String(16), default="accepted")
    accepted_at: Mapped[datetime] = mapped_column(default_factory=lambda: datetime.now(UTC))
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    delivered_at: Mapped[datetime | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)
    timings: Mapped[Mapping[str, Any] | None] = mapped_column(Json, default=None)
    proofs: Mapped[bytes | None] = mapped_column(default=None)
