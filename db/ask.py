"""Questions in SQL, which can read and not write, and answers as tables of other libraries."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from db.connect import reason
from db.errors import HistoryError
from db.history import History


@dataclass(frozen=True)
class Answer:
    """Columns by name, and rows as the database gives them."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(history: History, sql: str) -> Answer:
    """The answer to one SQL statement, in a transaction that may only read. Raises HistoryError."""
    try:
        return _ask_sqlite(history.engine, sql) if _is_sqlite(history) else _ask_server(history.engine, sql)
    except Exception as error:
        if not (isinstance(error, DBAPIError) or _is_of_driver(history, error)):
            raise
        raise HistoryError(f"{history.address}: {reason(error)}") from error  # type: ignore[arg-type]


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
    with closing(engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("PRAGMA query_only = ON")
        try:
            cursor.execute(sql)  # which the driver takes one statement of
            return _answer(cursor)
        finally:
            cursor.execute("PRAGMA query_only = OFF")


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
