"""Addresses of histories, and connections that are set up the same way wherever they are opened."""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from db.errors import HistoryError
from db.silence import answered_within

_log = logging.getLogger("cuzk.history")

CHOOSE_ANOTHER = "choose another path with [history] url or CUZK_HISTORY_URL"
BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 4
_WRITES = "history_writes"
_LOCK_TIMEOUT_S = "history_lock_timeout_s"
_ANSWER_TIMEOUT_S = "history_answer_timeout_s"
_LOOK_S, _SAY_AFTER_S = 0.5, 3.0  # a wait in pieces can be interrupted, and told of
_AUTOCOMMIT = "AUTOCOMMIT"
BINARY = {"history_binary": True}
"""Execution options of a statement whose answer has many bytes: PostgreSQL sends them as text otherwise."""


def parse_address(address: str | Path) -> URL:
    """The URL of `address`: the path of an SQLite file, `sqlite:///PATH`, or `postgresql://USER@HOST/DATABASE`.

    Raises HistoryError for anything else.
    """
    text = str(address)
    if "://" not in text:
        if text.startswith(("postgresql:", "postgres:", "sqlite:")):
            raise HistoryError(f"the history's URL lacks its //, expected {_EXPECTED}")
        path = Path(text).expanduser().absolute()
        return URL.create("sqlite", database=str(path))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise HistoryError(f"the history's URL cannot be understood, expected {_EXPECTED}") from error
    backend = url.drivername.partition("+")[0]
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or url.query or url.host or url.database in (None, "", ":memory:"):
        raise HistoryError(f"{shown(url)}: cannot hold the history, expected {_EXPECTED}")
    return url.set(drivername="sqlite", database=str(Path(url.database or "").absolute()))


_EXPECTED = "the path of an SQLite file or postgresql://USER@HOST/DATABASE"


def shown(url: URL) -> str:
    """`url` as a person knows it: an SQLite file's path, or the URL without its password."""
    if url.drivername == "sqlite":
        return url.database or ""
    return url.set(drivername=url.drivername.partition("+")[0]).render_as_string(hide_password=True)


def connect(url: URL) -> Engine:
    """An engine for `url`, nothing opened yet. Raises HistoryError where PostgreSQL's driver is missing."""
    if url.drivername == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # it warns of a lost connection, which we tell of
    try:
        defaults = {key: value for key, value in _POSTGRESQL_ARGS.items() if key not in url.query}
        engine = create_engine(url, connect_args=defaults)
    except ImportError as error:
        needs = "PostgreSQL needs psycopg, which is not installed; pip install 'cuzk[postgresql]'"
        raise HistoryError(f"{shown(url)}: {needs}") from error
    event.listen(engine, "before_cursor_execute", _choose_format)
    return engine


_POSTGRESQL_ARGS = {
    "connect_timeout": _CONNECT_TIMEOUT_S,
    "application_name": "cuzk",
    "keepalives_idle": 5,  # a host that is cut off without a word is found out within ten seconds
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 8_000,  # milliseconds
}


def impatient(engine: Engine, lock_timeout_s: float, answer_timeout_s: float | None = None) -> Engine:
    """The same engine, whose transactions are not waited for longer than that.

    On SQLite for another process's lock, each time; on PostgreSQL, for the server to take a whole one.
    """
    times_s = {_LOCK_TIMEOUT_S: lock_timeout_s, _ANSWER_TIMEOUT_S: answer_timeout_s}
    return engine.execution_options(**times_s)


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """A connection in a transaction that is committed at the end, or rolled back by an exception.

    On SQLite it takes the write lock at once: a transaction that reads first and then writes is refused
    without waiting when another process wrote in between.
    """
    with (
        engine.connect().execution_options(**{_WRITES: True}) as connection,
        _timed(connection),
        connection.begin(),
    ):
        yield connection


def _timed(connection: Connection) -> AbstractContextManager[None]:
    timeout_s = connection.get_execution_options().get(_ANSWER_TIMEOUT_S)
    if timeout_s is None or connection.dialect.name == "sqlite":
        return nullcontext()
    return answered_within(connection, timeout_s)


@contextmanager
def without_transaction(engine: Engine) -> Iterator[Connection]:
    """A connection on which each statement is committed by itself, as some must be."""
    with engine.connect().execution_options(isolation_level=_AUTOCOMMIT) as connection:
        yield connection


def reason(error: SQLAlchemyError | sqlite3.Error) -> str:
    """What the database said, in one line."""
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def remedy(error: SQLAlchemyError | sqlite3.Error, otherwise: str = CHOOSE_ANOTHER) -> str:
    """What a person can do about it, or else `otherwise`."""
    original = getattr(error, "orig", None) or error
    if not isinstance(original, sqlite3.Error):
        return f"check the server and the URL, or {otherwise}"
    code = getattr(original, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without what extends it
    return f"{_REMEDIES.get(code, 'make it readable and writable, or ')}{otherwise}"


_REMEDIES = {
    sqlite3.SQLITE_NOTADB: "",
    sqlite3.SQLITE_CORRUPT: "restore it from a copy, or ",
    sqlite3.SQLITE_FULL: "free space on its disk, or ",
    sqlite3.SQLITE_IOERR: "check its disk and the space on it, or ",
    sqlite3.SQLITE_BUSY: "try again when no other process keeps it locked, or ",
}


def _choose_format(
    _connection: Connection, cursor: Any, _statement: str, _parameters: Any, context: Any, _many: bool
) -> None:
    cursor.format = int(BINARY.keys() <= context.execution_options.keys())  # as psycopg.pq.Format


def _set_up_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # the driver begins no transactions: _begin_sqlite does
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL safe against a dying process


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("isolation_level") == _AUTOCOMMIT:
        return
    begin = "BEGIN IMMEDIATE" if options.get(_WRITES, False) else "BEGIN"
    timeout_s = min(options.get(_LOCK_TIMEOUT_S, BUSY_TIMEOUT_S), BUSY_TIMEOUT_S)
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    wait = LockWait(connection.engine.url.database or "", timeout_s)
    driver.execute(f"PRAGMA busy_timeout = {round(1000 * min(timeout_s, _LOOK_S))}")
    try:
        while _is_kept_waiting(driver, begin) and not wait.is_over():
            pass
        if not driver.in_transaction:
            connection.exec_driver_sql(begin)  # fails once more, as the caller knows it
    finally:
        driver.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY_TIMEOUT_S)}")


def _is_kept_waiting(driver: sqlite3.Connection, begin: str) -> bool:
    """Begin, unless another process holds the file locked, or it fails otherwise."""
    try:
        driver.execute(begin)
    except sqlite3.Error as error:
        return is_locked(error)
    return False


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another process holds the file locked."""
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


class LockWait:
    """A wait for the lock on the SQLite file at `address`; one that is long is told of, once."""

    def __init__(self, address: str, timeout_s: float) -> None:
        self._address, self._timeout_s = address, timeout_s
        self._since_s = time.monotonic()
        self._told = False

    def is_over(self) -> bool:
        """Whether it has taken too long."""
        waited_s = time.monotonic() - self._since_s
        if waited_s >= _SAY_AFTER_S and not self._told:
            self._told = True
            what = "waiting for another process that holds %s locked, %.0f s so far; given up after %.0f s"
            _log.warning(what, self._address, waited_s, self._timeout_s)
        return waited_s >= self._timeout_s
