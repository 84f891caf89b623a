"""Addresses of histories, and connections that are set up the same way wherever they are opened."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from db.errors import HistoryError

BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10
_WRITES = "history_writes"
_AUTOCOMMIT = "AUTOCOMMIT"


def parse_address(address: str | Path) -> URL:
    """The URL of `address`: the path of an SQLite file, `sqlite:///PATH`, or `postgresql://USER@HOST/DATABASE`.

    Raises HistoryError for anything else.
    """
    text = str(address)
    if "://" not in text:
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
        return create_engine(url, connect_args=defaults)
    except ImportError as error:
        needs = "PostgreSQL needs psycopg, which is not installed; pip install 'cuzk[postgresql]'"
        raise HistoryError(f"{shown(url)}: {needs}") from error


_POSTGRESQL_ARGS = {
    "connect_timeout": _CONNECT_TIMEOUT_S,
    "application_name": "cuzk",
    "keepalives_idle": 10,  # a server that is cut off without a word is found out within half a minute
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """A connection in a transaction that is committed at the end, or rolled back by an exception.

    On SQLite it takes the write lock at once: a transaction that reads first and then writes is refused
    without waiting when another process wrote in between.
    """
    with engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
        yield connection


@contextmanager
def without_transaction(engine: Engine) -> Iterator[Connection]:
    """A connection on which each statement is committed by itself, as some must be."""
    with engine.connect().execution_options(isolation_level=_AUTOCOMMIT) as connection:
        yield connection


def reason(error: SQLAlchemyError | sqlite3.Error) -> str:
    """What the database said, in one line."""
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def remedy(error: SQLAlchemyError | sqlite3.Error) -> str:
    """What a person can do about it."""
    original = getattr(error, "orig", None) or error
    if not isinstance(original, sqlite3.Error):
        return f"check the server and the URL, or {CHOOSE_ANOTHER}"
    code = getattr(original, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without what extends it
    return _REMEDIES.get(code, f"make it readable and writable, or {CHOOSE_ANOTHER}")


CHOOSE_ANOTHER = "choose another path with [history] url or CUZK_HISTORY_URL"
FREE_SPACE = f"free space on its disk, or {CHOOSE_ANOTHER}"
_REMEDIES = {
    sqlite3.SQLITE_NOTADB: CHOOSE_ANOTHER,
    sqlite3.SQLITE_CORRUPT: f"restore it from a copy, or {CHOOSE_ANOTHER}",
    sqlite3.SQLITE_FULL: FREE_SPACE,
    sqlite3.SQLITE_IOERR: f"check its disk and the space on it, or {CHOOSE_ANOTHER}",
    sqlite3.SQLITE_BUSY: f"try again when no other process keeps it locked, or {CHOOSE_ANOTHER}",
}


def _set_up_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # the driver begins no transactions: _begin_sqlite does
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL safe against a dying process


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("isolation_level") == _AUTOCOMMIT:
        return
    writes = options.get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
