"""The tables of what was seen and decided in a run: memory samples, the policy's log, and sums.

While a run goes on, its log is one row an event. Once it is over, `db.packing` packs the log, unfolds the
decisions and cache events in it into tables for SQL, thins the samples, and sums the partitions up.
"""

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from db.models import State
from db.record import Id, Json, Record, number, parent

CacheEventKind = Literal["load", "loaded", "load_failed", "evict", "upload", "device_evict"]
DecisionKind = Literal["admit", "stop", "reject", "fail"]


class MemorySample(Record, kw_only=True):
    """Resident and reserved bytes at one moment; of the first, `file_bytes` are pages of mapped files.

    `pss_bytes`: resident, each page divided by how many processes have it; of what is watched from outside.
    """

    __tablename__ = "memory_sample"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    at_s: Mapped[float]
    rss_bytes: Mapped[int | None] = mapped_column(default=None)
    reserved_bytes: Mapped[int]
    file_bytes: Mapped[int | None] = mapped_column(default=None)
    pss_bytes: Mapped[int | None] = mapped_column(default=None)


class PoolSample(Record, kw_only=True):
    """Threads of one pool of a process, and the processors that they kept busy, as seen from outside."""

    __tablename__ = "pool_sample"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    pool: Mapped[str]
    at_s: Mapped[float]
    threads: Mapped[int]
    cores: Mapped[float]


class DeviceSample(Record, kw_only=True):
    """What a device's own memory held at one moment, keys and arrays, and what was reserved of it."""

    __tablename__ = "device_sample"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    device: Mapped[str]
    at_s: Mapped[float]
    held_bytes: Mapped[int]
    reserved_bytes: Mapped[int]


class PolicyEvent(Record, kw_only=True):
    """One event given to the policy, with the decisions it made: the log from which a run can be replayed."""

    __tablename__ = "policy_event"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    at_s: Mapped[float]
    event: Mapped[Mapping[str, Any]] = mapped_column(Json)
    decisions: Mapped[list[Any]] = mapped_column(Json)


class PolicyLog(Record, kw_only=True):
    """Policy events of a run that is over, from number `sequence` on, compressed; see `db.policy_log`."""

    __tablename__ = "policy_log"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    packed: Mapped[bytes]


class Decision(Record, kw_only=True):
    """The policy admitted or stopped a partition, or rejected or failed a proof; `sequence` is the event's.

    What else it decides is elsewhere: starts are stages, loads and evictions cache events, and completions
    ends of proofs. `position` counts the decisions of an event.
    """

    __tablename__ = "decision"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    at_s: Mapped[float]
    kind: Mapped[DecisionKind] = mapped_column(String(16))
    proof_id: Mapped[str] = mapped_column(Id)
    partition_index: Mapped[int | None] = mapped_column(default=None)
    reserved_bytes: Mapped[int | None] = mapped_column(default=None)
    why: Mapped[str | None] = mapped_column(default=None)


class CacheEvent(Record, kw_only=True):
    """An SRS or PCE began to load, was loaded, could not be, or was evicted; numbered as decisions are.

    Of an upload to a device or an eviction there, `device` says which.
    """

    __tablename__ = "cache_event"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    sequence: Mapped[int] = number()
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    at_s: Mapped[float]
    kind: Mapped[CacheEventKind] = mapped_column(String(16))
    entry: Mapped[str]
    size_bytes: Mapped[int | None] = mapped_column(default=None)
    why: Mapped[str | None] = mapped_column(default=None)
    device: Mapped[str | None] = mapped_column(default=None)


class Summary(Record, kw_only=True):
    """Of a run that is over: its partitions of one circuit, device and state, so that statistics are quick.

    `columns` are db.summaries.COLUMNS of each partition, little-endian float32, column after column; NaN
    where there is none. `waits_s`: seconds by cause, summed. `device` is "" where none was reached.
    """

    __tablename__ = "summary"

    run_id: Mapped[str] = parent("run.id", index=False, primary_key=True)
    circuit: Mapped[str] = mapped_column(primary_key=True)
    device: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[State] = mapped_column(String(16), primary_key=True)
    partition_count: Mapped[int]
    waits_s: Mapped[Mapping[str, Any]] = mapped_column(Json)
    columns: Mapped[bytes]
