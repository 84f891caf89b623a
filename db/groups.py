"""The partitions that a question is about, in groups of one run, circuit, device and state, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Integer, LargeBinary, cast, func, literal, select, type_coerce
from sqlalchemy.orm import Session

from db.connect import BINARY
from db.filters import EVERYTHING, Filter
from db.history import History
from db.log_models import Summary
from db.models import Run
from db.summaries import COLUMNS, FLOAT_BYTES, decode_columns, summaries_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Group:
    """Partitions of one run, circuit, device and state.

    `columns` are those of db.summaries.COLUMNS that were asked for; `packed` are their values, as there.
    """

    run_id: str
    source: str
    host: str
    version: str
    started_at: datetime
    circuit: str
    device: str
    state: str
    partition_count: int
    waits_s: Mapping[str, float]
    columns: Sequence[str]
    packed: bytes

    @property
    def week(self) -> str:
        """The ISO week of the run's start by UTC, as "2026-W09"."""
        year, week, _ = self.started_at.isocalendar()
        return f"{year}-W{week:02}"

    @property
    def day(self) -> str:
        """The day of the run's start by UTC, as "2026-02-28"."""
        return f"{self.started_at:%Y-%m-%d}"

    @property
    def values(self) -> NDArray[np.float32]:
        """float32, (columns, partitions); NaN where there was no such stage, or the bytes are not known."""
        return decode_columns(self.packed, self.columns)


_RUN = (Run.id, Run.source, Run.host, Run.code_version, Run.started_at)


def groups(
    history: History, where: Filter = EVERYTHING, columns: Sequence[str] = (), waits: bool = False
) -> list[Group]:
    """The groups that the filter lets through, by the start of their runs, with the values of those columns.

    The columns have to be neighbours in COLUMNS, as one or all of them are. `waits`: with `waits_s`, which is
    empty otherwise: both are read only where they are asked for. Of a run that goes on, what has been
    recorded so far.
    """
    with history.read() as session:
        found = [*_packed(session, where, columns, waits), *_live(session, where, columns)]
    return sorted(found, key=lambda group: (group.started_at, group.run_id))


def known_values(some: Sequence[Group]) -> list[NDArray[np.float32]]:
    """For each column that was asked for, its values in all the groups, of which one is needed at least."""
    import numpy as np

    return [
        values[~unknown] if (unknown := np.isnan(values)).any() else values
        for values in np.concatenate([group.values for group in some], axis=1)
    ]


def _packed(session: Session, where: Filter, columns: Sequence[str], waits: bool) -> list[Group]:
    facts = (Summary.circuit, Summary.device, Summary.state, Summary.partition_count)
    waits_s = Summary.waits_s if waits else literal(None)
    asked = select(*_RUN, *facts, waits_s, _part(columns)).join(Run, Summary.run_id == Run.id)
    asked = asked.where(Run.packed, *where.of_runs(), *_of_partitions(where)).execution_options(**BINARY)
    rows = session.execute(asked)
    return [Group(*[*facts, waits_s or {}, columns, packed]) for *facts, waits_s, packed in rows]


def _part(columns: Sequence[str]) -> ColumnElement[bytes]:
    """The bytes of these columns: it takes long to fetch what is not needed."""
    if len(columns) in (0, len(COLUMNS)):
        return type_coerce(Summary.columns, LargeBinary) if columns else literal(b"", LargeBinary)
    column_bytes = cast(Summary.partition_count * FLOAT_BYTES, Integer)
    first = COLUMNS.index(columns[0])
    part = func.substr(Summary.columns, column_bytes * first + 1, column_bytes * len(columns))
    return type_coerce(part, LargeBinary)


def _of_partitions(where: Filter) -> list[ColumnElement[bool]]:
    wanted = {Summary.circuit: where.circuit, Summary.device: where.device, Summary.state: where.state}
    return [column == value for column, value in wanted.items() if value is not None]


def _live(session: Session, where: Filter, columns: Sequence[str]) -> list[Group]:
    runs = session.execute(select(*_RUN).where(Run.packed.is_(False), *where.of_runs())).all()
    first = COLUMNS.index(columns[0]) if columns else 0
    return [
        Group(*[*run, *(row[name] for name in _SUMMED), columns, _cut(row, first, len(columns))])
        for run in runs
        for row in summaries_of(session.connection(), run[0])
        if _lets_through(where, row)
    ]


def _cut(row: Mapping[str, Any], first: int, count: int) -> bytes:
    column_bytes = FLOAT_BYTES * row["partition_count"]
    columns: bytes = row["columns"]
    return columns[first * column_bytes : (first + count) * column_bytes]


_SUMMED = ("circuit", "device", "state", "partition_count", "waits_s")


def _lets_through(where: Filter, row: Mapping[str, Any]) -> bool:
    wanted = (where.circuit, where.device, where.state)
    found = (row["circuit"], row["device"], row["state"])
    return all(asked in (None, value) for asked, value in zip(wanted, found, strict=True))
