"""Runs on their way from one history to another: between hosts, into a file, out of one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import SQLAlchemyError

from db.changes import AWAY, Change, Insert, apply, table_of
from db.connect import reason, remedy, write_transaction
from db.errors import HistoryError
from db.filters import EVERYTHING, Filter
from db.history import History
from db.models import Machine, Partition, Proof, Run, Settings, Stage
from db.tables import METADATA

_AT_ONCE = 5_000
_PROOF = table_of(Proof)
_OF_RUN = [table for table in METADATA.sorted_tables if "run_id" in table.c and table is not _PROOF]


def rows_of_runs(history: History, where: Filter = EVERYTHING) -> Iterator[Insert]:
    """All rows of the runs that are over, the oldest first, each after those that it refers to."""
    over = select(Run.id).where(Run.state != "running", *where.of_listed_runs()).order_by(Run.started_at)
    with history.read() as session:
        connection = session.connection()
        for run_id in connection.scalars(over).all():
            yield from _rows_of_run(connection, run_id)


@dataclass(frozen=True)
class Imported:
    """How many runs came, and how many were there already."""

    new: int
    known: int


def write_rows(history: History, rows: Iterable[Change]) -> Imported:
    """Write rows of other histories, those that are there already left alone; a run comes whole or not.

    Raises HistoryError where the database refuses a row.
    """
    new = known = 0
    for of_run in _by_run(rows):
        ids = [row.values.get("id") for row in of_run if _begins_run(row)]
        try:
            with write_transaction(history.engine) as connection:
                there = connection.scalars(select(Run.id).where(Run.id.in_(ids))).all()
                for start in range(0, len(of_run), _AT_ONCE):
                    apply(connection, of_run[start : start + _AT_ONCE])
        except AWAY as error:
            raise HistoryError(f"{history.address}: {reason(error)}; {remedy(error)}") from error
        except (SQLAlchemyError, TypeError, ValueError) as error:  # TypeError: a list for an id
            why = reason(error) if isinstance(error, SQLAlchemyError) else error
            raise HistoryError(
                f"{history.address} refuses a row of run {ids[0] if ids else '?'}: {why}"
            ) from error
        new, known = new + len(ids) - len(there), known + len(there)
    return Imported(new, known)


def _by_run(rows: Iterable[Change]) -> Iterator[list[Change]]:
    """The rows of each run together, with those of its machine and settings, which come before it."""
    first, some, has_run = (table_of(Machine), table_of(Settings), table_of(Run)), list[Change](), False
    for row in rows:
        if has_run and row.table in first:
            yield some
            some, has_run = [], False
        some.append(row)
        has_run = has_run or _begins_run(row)
    if some:
        yield some


def _begins_run(row: Change) -> bool:
    return isinstance(row, Insert) and row.table is table_of(Run)


def _rows_of_run(connection: Connection, run_id: str) -> Iterator[Insert]:
    run = connection.execute(select(table_of(Run)).where(Run.id == run_id)).mappings().one()
    for model, key in ((Machine, run["machine_id"]), (Settings, run["config_id"])):
        yield from _rows(connection, table_of(model), model.id == key)
    yield Insert(table_of(Run), dict(run))
    proofs = select(Proof.id).where(Proof.run_id == run_id)
    partitions = select(Partition.id).where(Partition.proof_id.in_(proofs))
    yield from _rows(connection, table_of(Proof), Proof.run_id == run_id)
    yield from _rows(connection, table_of(Partition), Partition.proof_id.in_(proofs))
    yield from _rows(connection, table_of(Stage), Stage.partition_id.in_(partitions))
    for table in _OF_RUN:
        yield from _rows(connection, table, table.c.run_id == run_id)


def _rows(connection: Connection, table: Table, condition: Any) -> Iterator[Insert]:
    rows = connection.execute(select(table).where(condition))
    names = list(rows.keys())
    for row in rows:
        yield Insert(table, dict(zip(names, row, strict=True)))
