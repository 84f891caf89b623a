"""Writing that never holds up proving: rows go into a bounded queue, one thread commits them in batches."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, Table, insert, update
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from db.connect import reason, remedy, write_transaction
from db.errors import HistoryError
from db.models import Record

_log = logging.getLogger("cuzk.history")

_BATCH = 1_000
_GATHER_S = 0.05  # how long a row waits for company, and so what a killed process loses
_RETRY_WAITS_S = (0.1, 0.5, 2.0)
_AWAY = (OperationalError, InterfaceError)  # the database, not the row, is at fault


@dataclass(frozen=True)
class _Insert:
    table: Table
    values: Mapping[str, Any]


@dataclass(frozen=True)
class _Update:
    table: Table
    id: str
    values: dict[str, Any]


_Change = _Insert | _Update


class HistoryWriter:
    """Takes rows and updates from any thread, in order, and never raises into the work that it records.

    What cannot be written is counted in `lost`; the first reason is logged at once and kept in `error`.
    """

    def __init__(self, engine: Engine, address: str, capacity: int = 100_000) -> None:
        self.error: HistoryError | None = None
        self.lost = 0
        self._engine = engine
        self._address = address
        self._capacity = capacity
        self._pending: list[_Change] = []
        self._accepted = self._finished = self._wanted = 0  # changes taken in, dealt with, and flushed up to
        self._closed = False
        self._away = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="history-writer", daemon=True)
        self._thread.start()

    def insert(self, *rows: Record) -> None:
        """Add `rows` as they are now; a parent goes in before its children."""
        self._put([_Insert(_table(type(row)), _values(row)) for row in rows])

    def insert_values(self, model: type[Record], rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows given as values by column, all with the same columns; far cheaper than as objects.

        No default of the model applies: a column left out is null, or a number that the database gives.
        """
        table = _table(model)
        self._put([_Insert(table, row) for row in rows])

    def update(self, model: type[Record], id: str, /, **values: Any) -> None:  # noqa: A002 the column's own name
        """Set columns of the row of `model` with that `id`."""
        self._put([_Update(_table(model), id, values)])

    def flush(self, timeout_s: float = 60.0) -> bool:
        """Wait till all taken in so far is written or given up; False where `timeout_s` is too short."""
        with self._changed:
            target = self._wanted = self._accepted
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._finished >= target, timeout_s)

    def close(self, timeout_s: float = 60.0) -> HistoryError | None:
        """Write what is left, end the thread, return the first error if there was any. May be repeated."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout_s)
        with self._changed:
            if self._finished < self._accepted:
                self._fail(f"not written within {timeout_s:g} s", lost=self._accepted - self._finished)
        return self.error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, changes: Sequence[_Change]) -> None:
        with self._changed:
            room = 0 if self._closed else self._capacity - len(self._pending)
            self._pending += changes[:room]
            self._accepted += len(changes[:room])
            if len(changes) > room:
                why = "the writer is closed" if self._closed else "rows come faster than they can be written"
                self._fail(why, lost=len(changes) - room)
            self._changed.notify_all()

    def _run(self) -> None:
        while batch := self._next_batch():
            self._write(batch)
            with self._changed:
                self._finished += len(batch)
                self._changed.notify_all()

    def _next_batch(self) -> list[_Change]:
        """The next changes, in order; none once closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._closed)
            self._changed.wait_for(self._is_full_or_wanted, _GATHER_S)
            batch, self._pending = self._pending[:_BATCH], self._pending[_BATCH:]
            return batch

    def _is_full_or_wanted(self) -> bool:
        return self._closed or len(self._pending) >= _BATCH or self._finished < self._wanted

    def _write(self, changes: Sequence[_Change]) -> None:
        """Commit all, again after a while if the database is away, one by one if it refuses one of them."""
        try:
            _retry(lambda: self._commit(changes), () if self._away else _RETRY_WAITS_S)
            self._away = False
        except _AWAY as error:
            self._away = True  # so that what follows is not held up by waiting each time
            self._fail(f"{reason(error)}; {remedy(error)}", lost=len(changes), cause=error)
        except Exception as error:  # whatever a row holds, the thread goes on
            if len(changes) == 1:
                why = reason(error) if isinstance(error, SQLAlchemyError) else str(error)
                self._fail(why, lost=1, cause=error)
                return
            for change in changes:
                self._write([change])

    def _commit(self, changes: Sequence[_Change]) -> None:
        with write_transaction(self._engine) as connection:
            for (kind, table), group in groupby(changes, key=lambda change: (type(change), change.table)):
                if kind is _Insert:
                    connection.execute(insert(table), [change.values for change in group])
                else:
                    _update_all(connection, [change for change in group if isinstance(change, _Update)])

    def _fail(self, why: str, lost: int, cause: Exception | None = None) -> None:
        with self._changed:
            self.lost += lost
            if self.error is not None:
                return
            self.error = HistoryError(f"{self._address}: records were lost: {why}")
            self.error.__cause__ = cause
        _log.warning("%s", self.error)


def _update_all(connection: Connection, changes: Sequence[_Update]) -> None:
    for change in changes:
        statement = update(change.table).where(change.table.c.id == change.id).values(**change.values)
        if connection.execute(statement).rowcount == 0:
            raise HistoryError(f"there is no {change.table.name} {change.id!r} to update")


def _retry(action: Callable[[], None], waits_s: Sequence[float]) -> None:
    for wait_s in waits_s:
        try:
            return action()
        except _AWAY:
            time.sleep(wait_s)
    return action()


def _table(model: type[Record]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table


def _values(row: Record) -> dict[str, Any]:
    """The row's columns but for a number that the database gives."""
    columns = _table(type(row)).columns
    return {column.key: getattr(row, column.key) for column in columns if column.autoincrement is not True}
