"""Keeping a history small: deleting old runs, and giving their space back."""

from datetime import datetime

from sqlalchemy import Select, delete, select, text
from sqlalchemy.orm import InstrumentedAttribute

from db.connect import without_transaction, write_transaction
from db.history import History
from db.models import Machine, Run, Settings
from db.tables import METADATA

_AT_ONCE = 100


def prune(history: History, before: datetime) -> int:
    """Delete the runs that started before that moment and are over, with all that belongs to them.

    A hundred at a time, so that whoever writes meanwhile does not wait long. Returns how many.
    """
    old = select(Run.id).where(Run.started_at < before, Run.state != "running").order_by(Run.started_at)
    with history.read() as session:
        run_ids = session.scalars(old).all()
    for start in range(0, len(run_ids), _AT_ONCE):
        with history.told(), write_transaction(history.engine) as connection:
            connection.execute(delete(Run).where(Run.id.in_(run_ids[start : start + _AT_ONCE])))
    with history.told(), write_transaction(history.engine) as connection:
        connection.execute(delete(Machine).where(Machine.id.not_in(_used(Run.machine_id))))
        connection.execute(delete(Settings).where(Settings.id.not_in(_used(Run.config_id))))
    return len(run_ids)


def vacuum(history: History) -> tuple[int, int]:
    """Give the space of deleted rows back to the disk, and renew what the planner knows of the tables.

    Returns the bytes that the history took before and takes now. Everything is written anew, which needs as
    much space again, and who writes meanwhile waits.
    """
    before_bytes = size_bytes(history)
    if history.engine.dialect.name == "sqlite":
        statements = ["VACUUM", "ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"]
    else:
        statements = [f'VACUUM (FULL, ANALYZE) "{name}"' for name in METADATA.tables]
    with history.told(), without_transaction(history.engine) as connection:
        for statement in statements:
            connection.execute(text(statement))
    return before_bytes, size_bytes(history)


def size_bytes(history: History) -> int:
    """What the history takes: an SQLite file's pages, or PostgreSQL's tables with their indexes."""
    with history.told(), history.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            pages, page_bytes = (
                connection.execute(text(f"PRAGMA {name}")).scalar_one()
                for name in ("page_count", "page_size")
            )
            return int(pages * page_bytes)
        sizes = ", ".join(f"""pg_total_relation_size('"{name}"')""" for name in METADATA.tables)
        return int(sum(connection.execute(text(f"SELECT {sizes}")).one()))


def _used(column: InstrumentedAttribute[str | None]) -> Select[str | None]:
    return select(column).where(column.is_not(None))
