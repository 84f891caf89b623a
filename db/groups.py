"""The partitions that a question is about, in groups of one run, circuit, device and state, as columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Integer, LargeBinary, cast, func, select, type_coerce
from sqlalchemy.orm import Session

from db.filters import EVERYTHING, Filter
from db.history import History
from db.log_models import Summary
from db.models import Run
from db.summaries import COLUMNS, FLOAT_BYTES, decode_columns, summaries_of


@dataclass(frozen=True)
class Group:
    """Partitions of one run, circuit, device and state.

    `values`: float32, (len(columns), partitions), NaN where a partition had no such stage, or its bytes are
    not known; `columns` are those of db.summaries.COLUMNS that were asked for.
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
    values: NDArray[np.float32]

    @property
    def week(self) -> str:
        """The ISO week of the run's start by UTC, as "2026-W09"."""
        year, week, _ = self.started_at.isocalendar()
        return f"{year}-W{week:02}"

    @property
    def day(self) -> str:
        """The day of the run's start by UTC, as "2026-02-28"."""
        return f"{self.started_at:%Y-%m-%d}"

    def column(self, name: str) -> NDArray[np.float32]:
        """The values of that column that are known."""
        values = self.values[self.columns.index(name)]
        known: NDArray[np.float32] = values[~np.isnan(values)]
        return known


_RUN = (Run.id, Run.source, Run.host, Run.code_version, Run.started_at)


def groups(history: History, where: Filter = EVERYTHING, columns: Sequence[str] = COLUMNS) -> list[Group]:
    """The groups that the filter lets through, by the start of their runs, with the values of those columns.

    The columns have to be neighbours in COLUMNS, as one or all of them are. Of a run that goes on, what has
    been recorded so far.
    """
    with history.read() as session:
        found = [*_packed(session, where, columns), *_live(session, where, columns)]
    return sorted(found, key=lambda group: (group.started_at, group.run_id))


def concatenated(some: list[Group], column: str) -> NDArray[np.float32]:
    """The known values of a column of all the groups."""
    parts = [group.column(column) for group in some]
    return np.concatenate(parts) if parts else np.empty(0, np.float32)


def _packed(session: Session, where: Filter, columns: Sequence[str]) -> list[Group]:
    facts = (Summary.circuit, Summary.device, Summary.state, Summary.partition_count, Summary.waits_s)
    asked = select(*_RUN, *facts, _part(columns)).join(Run, Summary.run_id == Run.id)
    rows = session.execute(asked.where(Run.packed, *where.of_runs(), *_of_partitions(where)))
    return [_group(row, columns, decode_columns(packed, columns)) for *row, packed in rows]


def _part(columns: Sequence[str]) -> ColumnElement[bytes]:
    """The bytes of these columns: it takes long to fetch what is not needed."""
    column_bytes = cast(Summary.partition_count * FLOAT_BYTES, Integer)
    first = COLUMNS.index(columns[0]) if columns else 0
    part = func.substr(Summary.columns, column_bytes * first + 1, column_bytes * len(columns))
    return type_coerce(part, LargeBinary)


def _of_partitions(where: Filter) -> list[ColumnElement[bool]]:
    wanted = {Summary.circuit: where.circuit, Summary.device: where.device, Summary.state: where.state}
    return [column == value for column, value in wanted.items() if value is not None]


def _live(session: Session, where: Filter, columns: Sequence[str]) -> list[Group]:
    runs = session.execute(select(*_RUN).where(Run.packed.is_(False), *where.of_runs())).all()
    first = COLUMNS.index(columns[0]) if columns else 0
    return [
        _group(
            [*run, *(row[name] for name in _SUMMED)],
            columns,
            decode_columns(row["columns"])[first : first + len(columns)],
        )
        for run in runs
        for row in summaries_of(session.connection(), run[0])
        if _lets_through(where, row)
    ]


def _group(row: Sequence[Any], columns: Sequence[str], values: NDArray[np.float32]) -> Group:
    return Group(*[*row, columns, values])


_SUMMED = ("circuit", "device", "state", "partition_count", "waits_s")


def _lets_through(where: Filter, row: Mapping[str, Any]) -> bool:
    wanted = (where.circuit, where.device, where.state)
    found = (row["circuit"], row["device"], row["state"])
    return all(asked in (None, value) for asked, value in zip(wanted, found, strict=True))
