"""Writing a simulated run to the history."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from db import Record
from sim.errors import SimError
from sim.rows import rows_of
from sim.run import Progress, SimulatedRun

ROWS_AT_ONCE = 10_000


class Writer(Protocol):
    """db.HistoryWriter is one."""

    def insert(self, *rows: Record) -> None: ...
    def flush(self, timeout_s: float = 60.0) -> bool: ...


def record(
    run: SimulatedRun, writer: Writer, *, name: str, code_version: str, progress: Progress | None = None
) -> str:
    """Write every row, count them in `progress`, and return the run's id.

    Raises SimError where the history does not take them.
    """
    progress = progress or Progress()
    rows = rows_of(run, name, code_version)
    run_id = ""
    for chunk in _chunks(rows):
        run_id = run_id or getattr(chunk[0], "id", "")
        writer.insert(*chunk)
        if not writer.flush():
            raise SimError("the history did not take the simulated run's rows in time; try again")
        progress.recorded_rows += len(chunk)
    return run_id


def _chunks(rows: Iterable[Record]) -> Iterator[list[Record]]:
    """The writer's queue has an end, so wait for it now and then."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, ROWS_AT_ONCE)):
        yield chunk
