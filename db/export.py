"""Runs written for other programs: as lines for another history, or each view as CSV or Parquet."""

import csv
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnClause, column, func, literal_column, select, table

from db.errors import HistoryError
from db.exported import write_lines
from db.filters import EVERYTHING, Filter
from db.history import History
from db.migrations.views import NAMES
from db.models import Run
from db.record import Id
from db.transfer import rows_of_runs

_AT_ONCE = 20_000
_INTEGERS = (
    "_bytes",
    "sequence",
    "position",
    "partition_index",
    "partition_count",
    "proofs",
    "proofs_asked",
    "proofs_succeeded",
)


def export_lines(history: History, target: Path, where: Filter = EVERYTHING) -> int:
    """Write the runs that are over as lines, for `db.read_lines`; returns how many. Raises HistoryError."""
    with _under_another_name(target) as path, path.open("w", encoding="utf-8") as file:
        runs = some(write_lines(file, rows_of_runs(history, where)))
        file.flush()
        return runs


def export_views(history: History, target: Path, where: Filter = EVERYTHING, kind: str = "csv") -> int:
    """Write each view as TARGET/NAME.csv or .parquet; returns how many runs. Raises HistoryError."""
    write = {"csv": _write_csv, "parquet": _write_parquet}[kind]
    with history.read() as session:
        over = [Run.state != "running", *where.of_listed_runs()]
        runs = some(session.scalar(select(func.count()).select_from(Run).where(*over)) or 0)
    with _under_another_name(target) as folder:
        folder.mkdir()
        for name in NAMES:
            with _rows(history, name, where) as (columns, rows):
                write(folder / f"{name}.{kind}", columns, rows)
    return runs


def some(runs: int) -> int:
    """The number of runs written. Raises HistoryError where it is none."""
    if runs == 0:
        raise HistoryError("no run that is over matches; nothing is written")
    return runs


@contextmanager
def _under_another_name(target: Path) -> Iterator[Path]:
    """A path beside the target that becomes it at the end, and is gone after an error."""
    path = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield path
        path.rename(target)
    except OSError as error:
        raise HistoryError(f"{target}: cannot be written: {error.strerror}; choose another place") from error
    finally:
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # not there, or a name that none can have
            path.unlink()


Rows = Iterator[Sequence[Sequence[Any]]]


@contextmanager
def _rows(history: History, view: str, where: Filter) -> Iterator[tuple[list[str], Rows]]:
    """The view's columns, and its rows of the runs asked for, some at a time."""
    rows = table(view, column("run_id", Id)).alias("v")
    every: ColumnClause[Any] = literal_column("v.*")
    joined = select(every).select_from(rows.join(Run, Run.id == rows.c.run_id))
    asked = joined.where(Run.state != "running", *where.of_listed_runs())
    with history.read() as session:
        result = session.connection().execution_options(yield_per=_AT_ONCE).execute(asked)
        yield list(result.keys()), result.partitions(_AT_ONCE)


def _write_csv(path: Path, names: list[str], rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for some in rows:
            writer.writerows(some)


def _write_parquet(path: Path, names: list[str], rows: Rows) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        needs = "Parquet needs pyarrow, which is not installed; pip install 'cuzk[parquet]', or take csv"
        raise HistoryError(needs) from error
    moment = pa.timestamp("us", tz="UTC")
    kinds = {"moment": moment, "integer": pa.int64(), "number": pa.float64(), "text": pa.string()}
    schema = pa.schema([(name, kinds[_kind(name)]) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for some in rows:
            columns = zip(names, zip(*some, strict=True), strict=True)
            arrays = [list(map(_read_as(name), values)) for name, values in columns]
            writer.write_table(pa.table(arrays, schema=schema))


def _kind(name: str) -> str:
    """What a view's column holds, by its name."""
    if name.endswith("_at"):
        return "moment"
    if name.endswith(_INTEGERS):
        return "integer"
    return "number" if name == "seconds" else "text"


def _read_as(name: str) -> Callable[[Any], Any]:
    readers: dict[str, Callable[[Any], Any]] = {"moment": _moment, "text": _text}
    return readers.get(_kind(name), lambda value: value)


def _text(value: Any) -> str | None:
    """PostgreSQL's ids are no text."""
    return None if value is None else str(value)


def _moment(value: datetime | str | None) -> datetime | None:
    """SQLite's moments are text, in UTC."""
    if value is None or isinstance(value, datetime):
        return value
    return datetime.fromisoformat(value).replace(tzinfo=UTC)
