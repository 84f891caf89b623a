"""Jobs of a daemon in the history's database: what a call returns of is on disk, whoever is killed next."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, event, insert, select, update
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from db.connect import connect, reason, write_transaction
from db.errors import HistoryError, JobThere
from db.history import History
from db.ids import first_id
from db.job_models import JobRow

AT_ONCE = 256


@dataclass(frozen=True)
class _Change:
    make: Callable[[Connection], None]
    done: "Future[None]"


class JobStore:
    """A thread writes; what comes while it does goes into the next transaction together. Close it at the end.

    A Future fails with HistoryError where its change could not be written. Rows are read without
    their proofs.
    """

    def __init__(self, history: History, owner: str) -> None:
        self._address, self._owner = history.address, owner
        self._engine = connect(history.engine.url)
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _sync_each_commit)
        self._changes: queue.SimpleQueue[_Change | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="jobs", daemon=True)
        self._thread.start()

    def accept(self, row: JobRow) -> "Future[None]":
        """A new job of this owner. The Future fails with JobThere where there is one of the same request."""
        values = {column.key: getattr(row, column.key) for column in JobRow.__table__.columns}
        return self._put(
            lambda connection: connection.execute(insert(JobRow), [values | {"owner": self._owner}])
        )

    def change(self, job_id: str, **values: Any) -> "Future[None]":
        """Columns that have become known."""
        statement = update(JobRow).where(JobRow.id == job_id).values(**values)
        return self._put(lambda connection: connection.execute(statement))

    def forget(self, before: datetime, also_undelivered: bool) -> "Future[None]":
        """Keep nothing of this owner's jobs that ended before; where not told so, not of undelivered ones.

        The ids of jobs begin with the time of their acceptance, so that no others are looked at.
        """
        old = [JobRow.owner == self._owner, JobRow.id < first_id(before), JobRow.ended_at < before]
        if not also_undelivered:
            old.append(JobRow.delivered_at.is_not(None))
        statement = delete(JobRow).where(*old)
        return self._put(lambda connection: connection.execute(statement))

    def unfinished(self) -> list[JobRow]:
        """The jobs of this owner that have not ended, the oldest first. Raises HistoryError."""
        return self._find(JobRow.state == "accepted")

    def find(self, job_id: str) -> JobRow | None:
        """The job of this owner with that id, if there is one. Raises HistoryError."""
        return next(iter(self._find(JobRow.id == job_id)), None)

    def requested(self, request_id: str) -> JobRow | None:
        """The job of this owner that was asked for under that name, if there is one. Raises HistoryError."""
        return next(iter(self._find(JobRow.request_id == request_id)), None)

    def _find(self, which: ColumnElement[bool]) -> list[JobRow]:
        columns = [column for column in JobRow.__table__.columns if column.key != "proofs"]
        statement = select(*columns).where(JobRow.owner == self._owner, which).order_by(JobRow.id)
        return [JobRow(**row) for row in self._read(lambda s: s.execute(statement).mappings().all())]

    def proofs(self, job_id: str) -> bytes | None:
        """What the job made; None where it is not known, or made nothing. Raises HistoryError."""
        statement = select(JobRow.proofs).where(JobRow.id == job_id)
        found: bytes | None = self._read(lambda session: session.scalar(statement))
        return found

    def close(self) -> None:
        """Write what is left, and end the thread. Blocks."""
        self._changes.put(None)
        self._thread.join()
        self._engine.dispose()

    def _read(self, ask: Callable[[Session], Any]) -> Any:
        try:
            with Session(self._engine) as session:
                return ask(session)
        except SQLAlchemyError as error:
            raise HistoryError(f"{self._address}: {reason(error)}") from error

    def _put(self, make: Callable[[Connection], Any]) -> "Future[None]":
        done: Future[None] = Future()
        self._changes.put(_Change(make, done))
        return done

    def _write(self) -> None:
        while (first := self._changes.get()) is not None:
            changes, last = [first], False
            while len(changes) < AT_ONCE and not self._changes.empty():
                following = self._changes.get()
                if following is None:
                    last = True
                    break
                changes.append(following)
            self._commit(changes)
            if last:
                return

    def _commit(self, changes: list[_Change]) -> None:
        try:
            with write_transaction(self._engine) as connection:
                for change in changes:
                    change.make(connection)
        except Exception as error:
            if len(changes) > 1:  # one of them: the others are not to fail for it
                for change in changes:
                    self._commit([change])
                return
            changes[0].done.set_exception(_worded(error, self._address))
            return
        for change in changes:
            change.done.set_result(None)


def _worded(error: Exception, address: str) -> Exception:
    if not isinstance(error, SQLAlchemyError):
        return error
    kind = JobThere if isinstance(error, IntegrityError) else HistoryError
    worded = kind(f"{address}: {reason(error)}")
    worded.__cause__ = error
    return worded


def _sync_each_commit(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    """What is told to a client survives a machine that loses its power, too."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()
