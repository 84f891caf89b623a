"""Questions in SQL, which can read and not write, and answers as tables of other libraries."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from db.connect import BUSY_TIMEOUT_S, reason
from db.errors import HistoryError
from db.history import History


@dataclass(frozen=True)
class Answer:
    """Columns by name, and rows as the database gives them."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(history: History, sql: str) -> Answer:
    """The answer to one SQL statement that reads. Raises HistoryError for any other."""
    try:
        answer = _ask_sqlite(history.engine, sql) if _is_sqlite(history) else _ask_server(history.engine, sql)
    except Exception as error:
        if not (isinstance(error, DBAPIError) or _is_of_driver(history, error)):
            raise
        said = f"{reason(error)}; {_EXPECTED}" if _is_denied(error) else reason(error)  # type: ignore[arg-type]
        raise HistoryError(f"{history.address}: {said}") from error
    if not answer.columns:
        raise HistoryError(f"{sql!r} has no answer; {_EXPECTED}")
    return answer


def frame(rows: Sequence[Any]) -> Any:
    """Typed rows of any question as a pandas DataFrame. Raises HistoryError where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError as error:
        raise HistoryError("a DataFrame needs pandas, which is not installed; pip install pandas") from error
    return pd.DataFrame([asdict(row) for row in rows])


def _is_sqlite(history: History) -> bool:
    return history.engine.dialect.name == "sqlite"


def _is_of_driver(history: History, error: Exception) -> bool:
    dbapi = history.engine.dialect.dbapi
    return dbapi is not None and isinstance(error, dbapi.Error)


def _ask_sqlite(engine: Engine, sql: str) -> Answer:
    """On a connection that cannot write, nor attach another file, which would be made."""
    path = f"{Path(engine.url.database or '').as_uri()}?mode=ro"
    with closing(sqlite3.connect(path, uri=True, timeout=BUSY_TIMEOUT_S)) as connection:
        connection.set_authorizer(_authorize)
        return _answer(connection.execute(sql))  # the driver takes one statement


def _authorize(action: int, name: str | None, *_: str | None) -> int:
    reads = action in _READING or (action, name) in _READING_OF
    return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY


_READING = {
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
}  # fmt: skip
_PRAGMAS = (
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
    "database_list", "integrity_check", "quick_check", "foreign_key_check",
)  # fmt: skip
_READING_OF = {(sqlite3.SQLITE_PRAGMA, name) for name in _PRAGMAS} | {
    (sqlite3.SQLITE_UPDATE, "sqlite_master")  # what json_each() and the like ask for as they are declared
}
_EXPECTED = "expected one statement that reads, as SELECT"


def _is_denied(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_AUTH


def _ask_server(engine: Engine, sql: str) -> Answer:
    with closing(engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute("SELECT 1")  # after which it cannot be set otherwise
        cursor.execute(sql, prepare=True)  # type: ignore[call-arg]  # psycopg's; one statement, not several
        return _answer(cursor)


def _answer(cursor: Any) -> Answer:
    if cursor.description is None:
        return Answer((), [])
    return Answer(tuple(column[0] for column in cursor.description), [tuple(row) for row in cursor])
