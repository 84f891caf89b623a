"""Answers as tables for people or as JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cli.table import print_parts, table


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and how a row's cell is worded; numbers stand to the right."""

    title: str
    cell: Callable[[Any], str]
    right: bool = True


def print_rows(rows: Sequence[Any], columns: Sequence[Column], as_json: bool) -> None:
    """Print dataclasses as a table, or as a JSON array of objects with all of their fields."""
    if as_json:
        print_json([asdict(row) for row in rows])
    elif not rows:
        print("nothing in the history matches")
    else:
        right = tuple(column.title for column in columns if column.right)
        made = table(*(column.title for column in columns), right=right)
        for row in rows:
            made.add_row(*(column.cell(row) for column in columns))
        print_parts(made)


def print_json(value: Any) -> None:
    """Print a JSON value; moments as UTC in ISO 8601, numbers that JSON has not as "inf", "-inf", "nan"."""
    print(json.dumps(_finite(value), default=_plain, indent=1, allow_nan=False))


def seconds(value: float | None) -> str:
    """Seconds, with a decimal more where there is less than one, and two more below a hundredth."""
    if value is None:
        return "–"
    decimals = 2 if value >= 0.9995 or value == 0 else 3 if value >= 0.01 else 4
    return f"{value:.{decimals}f}"


def percent(value: float) -> str:
    """A share or a change."""
    return f"{100 * value:+.1f} %"


def local(moment: datetime) -> str:
    """A moment in the local zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value)
