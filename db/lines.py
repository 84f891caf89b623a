"""Changes as lines of text: what a spool file and an export hold, one JSON array a line."""

import base64
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
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
    return json.dumps(parts, default=_encode_value, separators=(",", ":")) + "\n"


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


def _encode_value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is in no column")


def _decoded(table: Table, values: dict[str, Any]) -> dict[str, Any]:
    return {name: _decode_value(table, name, value) for name, value in values.items()}


def _decode_value(table: Table, name: str, value: Any) -> Any:
    column = table.c[name]
    if value is None:
        return None
    if isinstance(column.type, UtcDateTime):
        return datetime.fromisoformat(value)
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value)
    return value
