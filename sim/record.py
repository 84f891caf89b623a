"""Writing a simulated run to the history."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol, TypeVar

from db import Record, Run
from sim.errors import SimError
from sim.garbage import uncollected
from sim.rows import Recordable, rows_of
from sim.run import Progress

ROWS_AT_ONCE = 10_000
Row = TypeVar("Row")


class Writer(Protocol):
    """db.HistoryWriter is one."""

    def insert(self, *rows: Record) -> None: ...
    def update(self, model: type[Record], key: str, /, **values: Any) -> None: ...
    def insert_values(self, model: type[Record], rows: Iterable[Mapping[str, Any]]) -> None: ...
    def flush(self, timeout_s: float = 60.0) -> bool: ...


def record(
    run: Recordable, writer: Writer, *, name: str, code_version: str, progress: Progress | None = None
) -> str:
    """Write every row, count them in `progress`, and return the run's id.

    Raises SimError where the history does not take them.
    """
    with uncollected():
        return _record(run, writer, name, code_version, progress or Progress())


def _record(run: Recordable, writer: Writer, name: str, code_version: str, progress: Progress) -> str:
    records, many = rows_of(run, name, code_version)
    row = next(each for each in records if isinstance(each, Run))
    state, row.state = row.state, "running"  # until all of it is there
    for chunk in _chunks(records):
        writer.insert(*chunk)
        _wait(writer, len(chunk), progress)
    for model, rows in many:
        for values in _chunks(rows):
            writer.insert_values(model, values)
            _wait(writer, len(values), progress)
    writer.update(Run, row.id, state=state)
    _wait(writer, 0, progress)
    return row.id


def _wait(writer: Writer, count: int, progress: Progress) -> None:
    """The writer's queue has an end, so wait for it now and then."""
    if not writer.flush():
        raise SimError("the history does not take the simulated run's rows; make space for it, and try again")
    progress.recorded_rows += count


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while chunk := list(islice(remaining, ROWS_AT_ONCE)):
        yield chunk
