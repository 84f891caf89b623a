"""Changes as lines of text: what a spool file and an export hold, one JSON array a line."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import LargeBinary, Table

from db.changes import Change, Insert, Update
from db.errors import HistoryError
from db.record import UtcDateTime
from db.tables import METADATA


def encode(change: Change) -> str:
    """One line, with its end: ["insert", table, values] or ["update", table, key, values]."""
    if isinstance(change, Insert):
        parts = ["insert", change.table.name, change.values]
    else:
        parts = ["update", change.table.name, change.key, change.values]
    return _encoder().encode(parts) + "\n"


def decode(line: str) -> Change:
    """The change of a line. Raises HistoryError for a line that `encode` never wrote."""
    try:
        kind, name, *rest = json.loads(line)
        table = METADATA.tables[name]
        if kind == "insert":
            (values,) = rest
            return Insert(table, _decoded(table, values))
        if kind == "update":
            key, values = rest
            return Update(table, tuple(key), _decoded(table, values))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HistoryError(f"found {line[:60]!r}, expected a line of a history") from error
    raise HistoryError(f"found {kind!r}, expected insert or update")


def whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """Without the last line if its end is missing: its writer was killed in the middle of it."""
    return (line for line in lines if line.endswith("\n"))


@cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(default=_encode_value, separators=(",", ":"))


def _encode_value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is in no column")


def _decoded(table: Table, values: dict[str, Any]) -> dict[str, Any]:
    if unknown := values.keys() - table.c.keys():
        raise KeyError(min(unknown))
    others = _read_otherwise(table)
    return values | {name: read(values[name]) for name, read in others if values.get(name) is not None}


@cache
def _read_otherwise(table: Table) -> list[tuple[str, Callable[[str], Any]]]:
    """The columns that JSON has no type for, and how their values are read."""
    moments = [(each.key, datetime.fromisoformat) for each in table.c if isinstance(each.type, UtcDateTime)]
    return [*moments, *((each.key, b64decode) for each in table.c if isinstance(each.type, LargeBinary))]
