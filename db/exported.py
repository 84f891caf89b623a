"""Runs in a file for another history: a line that names the format, a line for each row, and the end.

The end counts what came before it, so that a file that was cut anywhere is known as such.
"""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from db.changes import Change, Insert, table_of
from db.errors import HistoryError
from db.lines import decode, encode
from db.models import Run

FORMAT = 2
"""Format 1 had rows alone, and neither this line nor an end."""

_HEADER, _END = "history", "end"
_EXPORT_AGAIN = "export it again"
_log = logging.getLogger("cuzk.history")


def write_lines(file: TextIO, rows: Iterable[Insert]) -> int:
    """Write rows as lines that `read_lines` reads, or nothing; returns how many runs they are of."""
    runs = count = 0
    for count, row in enumerate(rows, 1):
        if count == 1:
            file.write(_marked(_HEADER, FORMAT))
        file.write(encode(row))
        runs += row.table is table_of(Run)
    if count:
        file.write(_marked(_END, runs, count))
    return runs


def read_lines(path: Path) -> Iterator[Change]:
    """The rows of a file of `write_lines`; the first comes when all have been looked at.

    Raises HistoryError, naming the line, for any other, and for one that was cut.
    """
    for _ in (whole := _Reading(path)).rows():
        pass
    if whole.count == 0:
        raise HistoryError(f"{path}: holds no row, expected a file of `cuzk history export`; {_EXPORT_AGAIN}")
    if whole.format == 1:
        _log.warning("%s: is of an older version, which marked no end: nobody can tell if it was cut", path)
    elif not whole.ended:
        raise HistoryError(
            f"{path}: has been cut after line {whole.count + 1}, its end is missing; {_EXPORT_AGAIN}"
        )
    yield from _Reading(path).rows()


@dataclass
class _Reading:
    """A file as it is read: what of it was found so far."""

    path: Path
    format: int = 1
    ended: bool = False
    count: int = 0
    runs: int = 0

    def rows(self) -> Iterator[Change]:
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                try:
                    row = self._read(number, line)
                except HistoryError as error:
                    raise HistoryError(f"{self.path}, line {number}: {error}; {_EXPORT_AGAIN}") from error
                if row is not None:
                    yield row

    def _read(self, number: int, line: str) -> Change | None:
        if self.ended:
            raise HistoryError(f"found {line[:60]!r} after the end")
        if number == 1 and line.startswith(f'["{_HEADER}",'):
            self.format = _format(line)
            return None
        if line.startswith(f'["{_END}",') and self.format > 1:
            if line != _marked(_END, self.runs, self.count):
                found = f"{self.count} rows of {self.runs} runs"
                raise HistoryError(f"found {line.strip()!r}, which is not the end of the {found} before it")
            self.ended = True
            return None
        row = decode(line)
        self.count += 1
        self.runs += row.table is table_of(Run)
        return row


def _format(line: str) -> int:
    if line == _marked(_HEADER, FORMAT):
        return FORMAT
    found = f"found {line[:60].strip()!r}, expected format {FORMAT}"
    raise HistoryError(f"{found}; upgrade this program if that is a newer one, or")


def _marked(*parts: object) -> str:
    return json.dumps(parts, separators=(",", ":")) + "\n"
