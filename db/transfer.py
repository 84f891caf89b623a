"""Runs on their way from one history to another: between hosts, into a file, out of one."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, select

from db.changes import Change, Insert, table_of, write
from db.errors import HistoryError
from db.filters import EVERYTHING, Filter
from db.history import History
from db.lines import decode, encode
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


def write_rows(history: History, rows: Iterable[Change]) -> int:
    """Write rows of other histories, those that are there already left alone; returns how many runs came.

    Raises HistoryError where the database refuses one.
    """
    remaining, runs = iter(rows), 0
    while chunk := list(islice(remaining, _AT_ONCE)):
        with history.told():
            write(history.engine, chunk, _refuse)
        runs += sum(isinstance(row, Insert) and row.table is table_of(Run) for row in chunk)
    return runs


def write_lines(path: Path, rows: Iterable[Insert]) -> int:
    """Write rows as lines that `read_lines` reads, and return how many runs they are of."""
    runs = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(encode(row))
            runs += row.table is table_of(Run)
    return runs


def read_lines(path: Path) -> Iterator[Change]:
    """The rows of a file of `write_lines`. Raises HistoryError, naming the line, for any other."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                yield decode(line)
            except HistoryError as error:
                raise HistoryError(f"{path}, line {number}: {error}; export it again") from error


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


def _refuse(change: Change, error: Exception) -> None:
    raise HistoryError(f"a row of {change.table.name} is refused: {error}") from error
