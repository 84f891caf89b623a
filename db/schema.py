"""Bringing a database to the schema of this version, whoever else opens it at the same time.

Alembic and its migrations are loaded only where there is something to migrate: opening must be quick.
"""

import logging
import random
import sqlite3
import time

from sqlalchemy import Connection, Engine, inspect, text

from db.connect import BUSY_TIMEOUT_S, LockWait, is_locked, write_transaction
from db.errors import HistoryError, NoHistory
from db.tables import METADATA

HEAD = "0006"
"""The revision of the newest migration."""

VERSION_TABLE = "history_revision"
"""Where the database's revision stands. Alembic's own name for it may be taken in a shared database."""

_log = logging.getLogger("cuzk.history")

_ADVISORY_LOCK = 0x63757A6B  # "cuzk"


def bring_to_head(engine: Engine, create: bool = True) -> None:
    """Make the tables in an empty database, migrate an older one, leave a current one alone.

    Raises HistoryError for a database of another program or of a newer version, with nothing in it changed,
    and NoHistory for an empty one where no tables are to be made.
    """
    with engine.connect() as connection:
        revision = _checked_revision(connection)
    if revision is None and not create:
        raise NoHistory("holds no history")
    if engine.dialect.name == "sqlite":
        _use_write_ahead_log(engine)
    with write_transaction(engine) as connection:
        if revision == HEAD:  # finds out here, not in the middle of a run, whether it can be written
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = version_num"))
        else:
            _migrate_alone(connection)


def read_revision(connection: Connection) -> str | None:
    """The database's revision, or None where it has none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    revision: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return revision


def _migrate_alone(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # SQLite's write transaction is a lock already
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
    if _checked_revision(connection) == HEAD:
        return  # another process was faster

    from db.migrate import upgrade

    if read_revision(connection) is not None:
        _log.warning("bringing the history from an older version to this one's; a large one takes minutes")
    upgrade(connection)


def _checked_revision(connection: Connection) -> str | None:
    revision = read_revision(connection)
    if revision is None:
        _refuse_foreign(connection)
    elif revision != HEAD:
        _refuse_newer(revision)
    return revision


def _refuse_foreign(connection: Connection) -> None:
    """In an SQLite file every table must be ours; a PostgreSQL database may be shared, but not our names."""
    tables = set(inspect(connection).get_table_names()) - {VERSION_TABLE}
    foreign = tables if connection.dialect.name == "sqlite" else tables & METADATA.tables.keys()
    if foreign:
        names = ", ".join(sorted(foreign)[:3])
        raise HistoryError(f"holds tables of another program ({names})")


def _refuse_newer(revision: str) -> None:
    from db.migrate import known_revisions

    if revision not in known_revisions():
        raise HistoryError(
            f"was written by a newer version: its schema is {revision!r}, the newest known here is {HEAD!r}"
            " (upgrade this program)"
        )


def _use_write_ahead_log(engine: Engine) -> None:
    """Let others read while one writes. The file remembers it.

    The switch needs the file for itself, and SQLite does not wait for that as it does elsewhere: so we do.
    """
    wait = LockWait(engine.url.database or "", BUSY_TIMEOUT_S)
    while True:
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_locked(error) or wait.is_over():
                raise
        finally:
            connection.close()
        time.sleep(random.uniform(0.01, 0.05))
