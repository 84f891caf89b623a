"""Writing that never holds up proving: rows go into a bounded queue, one thread commits them in batches."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from db.changes import AWAY, Change, Insert, Key, Update, insert_of, retried, table_of, write
from db.connect import reason, remedy
from db.ends import is_end, needed_by_ends, with_their_rows
from db.errors import HistoryError
from db.record import Record
from db.spool import Spool

_log = logging.getLogger("cuzk.history")

_BATCH = 2_000
_GATHER_S = 4.0  # how long a row waits for company
_RETRY_WAITS_S = (0.1, 0.5, 2.0)
_RETRY_FOR_S = 3.0  # a server that takes long to be found missing is not asked again
_PROBE_S = 5.0  # between two looks whether a database that is away is back


class HistoryWriter:
    """Takes rows and updates from any thread, in order, and never raises into the work that it records.

    While the database is away they are kept in `spool`, and go into it when it is back, here or at the next
    opening. What can be kept nowhere is counted in `lost`; the first reason is logged and stays in `error`.
    """

    def __init__(
        self,
        engine: Engine,
        address: str,
        spool: Spool,
        hide: Callable[[Change], Change] = lambda change: change,
        capacity: int = 100_000,
    ) -> None:
        self.error: HistoryError | None = None
        self.lost = 0
        self._engine = engine
        self._address = address
        self._spool = spool
        self._hide = hide
        self._capacity = capacity
        self._pending: list[Change] = []
        self._batch: list[Change] = []
        self._needed: list[Insert] = []  # of the batch and of what is pending, what ends need
        self._accepted = self._finished = self._wanted = 0  # changes taken in, dealt with, and flushed up to
        self._closed = False
        self._away: HistoryError | None = None
        self._gave_up = False
        self._in_memory = False
        self._why_away = ""
        self._probe_at_s = 0.0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="history-writer", daemon=True)
        self._thread.start()

    def insert(self, *rows: Record) -> None:
        """Add `rows` as they are now, unless they are there; a parent goes in before its children."""
        self._put([insert_of(row) for row in rows])

    def insert_values(self, model: type[Record], rows: Iterable[Mapping[str, Any]], /) -> None:
        """Add rows given as values by column; far cheaper than as objects.

        No default of the model applies: a column left out is null.
        """
        table = table_of(model)
        self._put([Insert(table, row) for row in rows])

    def update(self, model: type[Record], key: str | Key, /, **values: Any) -> None:
        """Set columns of the row of `model` with that id, or those columns of its key."""
        self._put([Update(table_of(model), (key,) if isinstance(key, str) else key, values)])

    def flush(self, timeout_s: float = 60.0) -> bool:
        """Wait till all taken in is written, kept or given up.

        False where `timeout_s` is too short, and at once where neither the database nor the spool takes it.
        """
        with self._changed:
            target = self._wanted = self._accepted
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._finished >= target or self._in_memory, timeout_s)
            return self._finished >= target

    def close(self, timeout_s: float = 60.0) -> HistoryError | None:
        """Write what is left and end the thread. May be repeated.

        Returns why records were lost and how many, or else where they are kept, if not all of them are in the
        database.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout_s)
        with self._changed:
            if self._finished < self._accepted:
                self._keep_the_rest(f"not written within {timeout_s:g} s")
        if self.error is None:
            return self._away
        counted = HistoryError(f"{self.error}; {self.lost:,} in all")
        counted.__cause__ = self.error.__cause__
        return counted

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, changes: Sequence[Change]) -> None:
        with self._changed:
            room = 0 if self._closed else self._capacity - len(self._pending)
            taken = changes if len(changes) <= room else changes[:room]
            is_first = not self._pending
            self._pending += taken
            self._needed += needed_by_ends(taken)
            self._accepted += len(taken)
            if len(changes) > room:
                why = "the writer is closed" if self._closed else "rows come faster than they can be written"
                self._fail(why, lost=len(changes) - room)
            if is_first or self._is_full_or_wanted():
                self._changed.notify_all()
            self._note_ends(taken)

    def _note_ends(self, changes: Sequence[Change]) -> None:
        """A proof that has ended is in the history, even if the process is killed before the next commit."""
        if not (ends := [change for change in changes if is_end(change)]):
            return
        noted = with_their_rows(ends, self._needed)
        with suppress(OSError):  # then the next commit is soon enough
            self._spool.note([self._hide(change) for change in noted])

    def _run(self) -> None:
        while batch := self._next_batch():
            self._deliver([self._hide(change) for change in batch])
            with self._changed:
                self._batch, self._needed = [], needed_by_ends(self._pending)
                self._finished += len(batch)
                if not any(map(is_end, self._pending)):
                    self._spool.forget()
                self._changed.notify_all()
        if self._away is not None:
            self._committed([])
        self._spool.close()

    def _next_batch(self) -> list[Change]:
        """The next changes, in order; none once closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._closed)
            self._changed.wait_for(self._is_full_or_wanted, _GATHER_S)
            batch, self._pending = self._pending[:_BATCH], self._pending[_BATCH:]
            self._batch = batch
            return batch

    def _is_full_or_wanted(self) -> bool:
        return self._closed or len(self._pending) >= _BATCH or self._finished < self._wanted

    def _deliver(self, batch: Sequence[Change]) -> None:
        """To the database, or to the spool; while neither takes it, what follows waits in the queue."""
        while not self._committed(batch):
            try:
                self._spool.keep(batch)
                return
            except OSError as error:
                if self._closed:
                    self._fail(f"{self._why_away}, nor kept: {error}", lost=len(batch), cause=error)
                    return
                self._waits_in_memory(error)
            with self._changed:
                self._changed.wait_for(lambda: self._closed, _PROBE_S)

    def _committed(self, batch: Sequence[Change]) -> bool:
        """Commit what was kept, then the batch; False if the database is away, or was so a moment ago."""
        if self._gave_up or (self._away and not self._closed and time.monotonic() < self._probe_at_s):
            return False
        is_last = self._closed
        try:
            retried(lambda: self._write(batch), () if self._away else _RETRY_WAITS_S, _RETRY_FOR_S)
        except AWAY as error:
            self._gave_up = is_last
            self._goes_away(error)
            return False
        if self._away is not None:
            _log.info("%s: is back, and all records are in it", self._address)
            self._away, self._in_memory = None, False
        return True

    def _write(self, batch: Sequence[Change]) -> None:
        self._spool.empty_into(self._engine)
        write(self._engine, batch, self._refused)

    def _goes_away(self, error: Exception) -> None:
        assert isinstance(error, SQLAlchemyError)
        self._probe_at_s = time.monotonic() + _PROBE_S
        if self._away is None:
            self._why_away = reason(error)
            self._away = self._kept(f"cannot be written: {self._why_away}", remedy(error))
            self._away.__cause__ = error
            _log.warning("%s", self._away)

    def _kept(self, why: str, todo: str) -> HistoryError:
        where = f"the records are kept in {self._spool.path} and go into it when it is back"
        return HistoryError(f"{self._address}: {why}; {where}; {todo}")

    def _keep_the_rest(self, why: str) -> None:
        """What the thread is still writing, or would; twice is as good as once."""
        rest = [self._hide(change) for change in (*self._batch, *self._pending)]
        try:
            self._spool.keep(rest)
        except OSError as error:
            self._fail(f"{why}, nor kept: {error}", lost=len(rest), cause=error)
        else:
            self._away = self._kept(why, "check the server")

    def _waits_in_memory(self, error: OSError) -> None:
        if not self._in_memory:
            with self._changed:
                self._in_memory = True
                self._changed.notify_all()
            where = f"up to {self._capacity:,} records wait in memory"
            _log.warning("%s: cannot be written either: %s; %s", self._spool.path, error.strerror, where)

    def _refused(self, _: Change, error: Exception) -> None:
        self._fail(reason(error) if isinstance(error, SQLAlchemyError) else str(error), lost=1, cause=error)

    def _fail(self, why: str, lost: int, cause: Exception | None = None) -> None:
        with self._changed:
            self.lost += lost
            if self.error is not None:
                return
            self.error = HistoryError(f"{self._address}: records were lost: {why}")
            self.error.__cause__ = cause
        _log.warning("%s", self.error)
