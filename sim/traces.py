"""Recorded arrivals from a CSV file: every row counts, or is refused."""

import csv
from collections.abc import Collection, Iterator
from math import isfinite
from pathlib import Path

from config.files import read_text
from sim.errors import SimError

COLUMNS = ("at_s", "circuit")


def read_trace(path: Path, circuit: str, circuits: Collection[str]) -> tuple[float, ...]:
    """The column "at_s", in seconds since the start, of the circuit's rows, or of all without that column.

    circuits: those whose arrivals are taken from this file. Raises SimError for a row of any other, since
    nobody would miss it, and for a time that is none; both with their line.
    """
    found = []
    for line, row in _rows(path):
        name, text = row.get("circuit", circuit), row["at_s"]
        if name not in circuits:
            raise SimError(
                f"{path}: line {line}: found the circuit {name!r}, which no [[arrivals]] take from this trace"
                "; add some, or take the row out"
            )
        if name == circuit:
            found.append(_seconds(f"{path}: line {line}", text))
    return tuple(found)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        reader = csv.reader(read_text(path).removeprefix("\ufeff").splitlines(), strict=True)
        heads = [head.strip() for head in next(reader, [])]
        if "at_s" not in heads or sorted(heads) != sorted(set(heads) & set(COLUMNS)):
            raise SimError(
                f"{path}: line 1: found the columns {', '.join(map(repr, heads)) or 'of nothing'}, "
                'expected a header with "at_s", and "circuit" where there are several'
            )
        for cells in reader:
            if cells and len(cells) != len(heads):
                raise SimError(
                    f"{path}: line {reader.line_num}: found {len(cells)} cells, expected {len(heads)}"
                )
            if cells:
                yield reader.line_num, dict(zip(heads, map(str.strip, cells), strict=True))
    except OSError as error:
        raise SimError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SimError(f"{path}: not a CSV file: {error}; save it as CSV in UTF-8") from error


def _seconds(where: str, text: str) -> float:
    try:
        at_s = float(text)
    except ValueError:
        at_s = -1.0
    if not (isfinite(at_s) and at_s >= 0):
        raise SimError(f"{where}: found at_s {text!r}, expected seconds since the start, 0 or more")
    return at_s
