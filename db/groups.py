"""The partitions that a question is about, in groups of one run, circuit, device and state, as columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db.filters import EVERYTHING, Filter
from db.history import History
from db.log_models import Summary
from db.models import Run
from db.summaries import COLUMNS, decode_columns, summaries_of


@dataclass(frozen=True)
class Group:
    """Partitions of one run, circuit, device and state. `values`: float32, (len(COLUMNS), partitions).

    A value is NaN where the partition had no such stage, or its bytes are not known.
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
        values = self.values[COLUMNS.index(name)]
        known: NDArray[np.float32] = values[~np.isnan(values)]
        return known


_RUN = (Run.id, Run.source, Run.host, Run.code_version, Run.started_at)


def groups(history: History, where: Filter = EVERYTHING, *, values: bool = True) -> list[Group]:
    """The groups that the filter lets through, by the start of their runs. Without `values`, no columns.

    Of a run that goes on, what has been recorded so far.
    """
    with history.read() as session:
        found = [*_packed(session, where, values), *_live(session, where)]
    return sorted(found, key=lambda group: (group.started_at, group.run_id))


def concatenated(some: list[Group], column: str) -> NDArray[np.float32]:
    """The known values of a column of all the groups."""
    parts = [group.column(column) for group in some]
    return np.concatenate(parts) if parts else np.empty(0, np.float32)


_NO_VALUES = np.empty((len(COLUMNS), 0), np.float32)


def _packed(session: Session, where: Filter, values: bool) -> list[Group]:
    columns = (Summary.circuit, Summary.device, Summary.state, Summary.partition_count, Summary.waits_s)
    asked = select(*_RUN, *columns).join(Run, Summary.run_id == Run.id)
    asked = asked.where(Run.packed, *where.of_runs(), *_of_partitions(where))
    if not values:
        return [_group(row, _NO_VALUES) for row in session.execute(asked)]
    rows = session.execute(asked.add_columns(Summary.columns))
    return [_group(row, decode_columns(columns)) for *row, columns in rows]


def _of_partitions(where: Filter) -> list[ColumnElement[bool]]:
    wanted = {Summary.circuit: where.circuit, Summary.device: where.device, Summary.state: where.state}
    return [column == value for column, value in wanted.items() if value is not None]


def _live(session: Session, where: Filter) -> list[Group]:
    runs = session.execute(select(*_RUN).where(Run.packed.is_(False), *where.of_runs())).all()
    return [
        _group([*run, *(row[name] for name in _SUMMED)], decode_columns(row["columns"]))
        for run in runs
        for row in summaries_of(session.connection(), run[0])
        if _lets_through(where, row)
    ]


def _group(row: Sequence[Any], values: NDArray[np.float32]) -> Group:
    return Group(*[*row, values])


_SUMMED = ("circuit", "device", "state", "partition_count", "waits_s")


def _lets_through(where: Filter, row: Mapping[str, Any]) -> bool:
    wanted = (where.circuit, where.device, where.state)
    found = (row["circuit"], row["device"], row["state"])
    return all(asked in (None, value) for asked, value in zip(wanted, found, strict=True))
