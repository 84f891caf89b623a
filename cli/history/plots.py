"""A run drawn in the terminal: which stage each partition was in, and what memory was taken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from cli.table import console, ends
from config import format_size

if TYPE_CHECKING:
    from db import MemorySample, Span

MARKS = {"wait": "·", "load": "L", "synthesize": "S", "queue": "-", "prove": "P", "verify": "V"}
COLOURS = {
    "wait": "dim",
    "load": "magenta",
    "synthesize": "cyan",
    "queue": "dim",
    "prove": "green",
    "verify": "yellow",
}
MOST_PARTITIONS = 30
WIDEST = 120
HEIGHT = 8
LABEL = 18


def timeline(spans: Sequence[Span], whole: bool) -> list[Text]:
    """A line for each partition, a mark for each slice of time: what the partition did in most of it.

    Of many partitions the first and the last, unless the whole is asked for.
    """
    by_partition = [list(some) for _, some in groupby(spans, key=lambda span: span.partition)]
    if not by_partition:
        return []
    end_s = _end_s(spans)
    columns = _columns()
    first, left_out, last = ends(by_partition, None if whole else MOST_PARTITIONS)
    legend = ", ".join(f"{mark} {stage}" for stage, mark in MARKS.items())
    lines = [Text(f"timeline, {end_s / columns:.3g} s a column: {legend}")]
    lines += [_line(some, end_s, columns) for some in first]
    if left_out:
        lines.append(Text(f"… {left_out} more …"))
    return lines + [_line(some, end_s, columns) for some in last]


def memory_plot(samples: Sequence[MemorySample], budget_bytes: int | None) -> list[Text]:
    """Bytes over time: █ resident, ▒ reserved above it, ─ the budget, where it is not far above both."""
    if not samples:
        return []
    end_s = max(sample.at_s for sample in samples) or 1.0
    columns = _columns()
    rss = _most(samples, [sample.rss_bytes or 0 for sample in samples], end_s, columns)
    reserved = _most(samples, [sample.reserved_bytes for sample in samples], end_s, columns)
    most_bytes = max(*rss, *reserved) or 1
    near = budget_bytes is not None and budget_bytes <= 2 * most_bytes
    top = max(most_bytes, budget_bytes or 0) if near else most_bytes
    budget = "" if budget_bytes is None else f", ─ budget of {format_size(budget_bytes)}"
    lines = [Text(f"memory: █ resident, ▒ reserved{budget}{'' if near else ', far above'}")]
    for row in range(HEIGHT, 0, -1):
        level, below = top * row / HEIGHT, top * (row - 1) / HEIGHT
        empty = "─" if budget_bytes and below < budget_bytes <= level else " "
        cells = [_cell(*values, below, empty) for values in zip(rss, reserved, strict=True)]
        lines.append(Text(f"{format_size(int(level)):>{LABEL - 1}} {''.join(cells)}"))
    return [*lines, Text(f"{'0 s':>{LABEL + 3}}{f'{end_s:.2f} s':>{columns - 3}}")]


def _cell(rss_bytes: int, reserved_bytes: int, below: float, empty: str) -> str:
    if rss_bytes > below:
        return "█"
    return "▒" if reserved_bytes > below else empty


def _columns() -> int:
    return max(20, min(console().width - LABEL, WIDEST))


def _line(spans: Sequence[Span], end_s: float, columns: int) -> Text:
    line = Text(f"{spans[0].partition[: LABEL - 1]:<{LABEL}}")
    for stage in _stage_of_columns(spans, end_s, columns):
        line.append(MARKS[stage] if stage else " ", style=COLOURS[stage] if stage else "")
    return line


def _stage_of_columns(spans: Sequence[Span], end_s: float, columns: int) -> list[str | None]:
    """For each slice of time the stage that lasted longest in it."""
    longest: list[tuple[float, str | None]] = [(0.0, None)] * columns
    for span in spans:
        until_s = end_s if span.ended_s is None else span.ended_s
        first, last = (min(int(at_s / end_s * columns), columns - 1) for at_s in (span.started_s, until_s))
        for column in range(first, last + 1):
            begin_s, stop_s = column * end_s / columns, (column + 1) * end_s / columns
            inside_s = min(until_s, stop_s) - max(span.started_s, begin_s)
            if inside_s > longest[column][0]:
                longest[column] = (inside_s, span.stage)
    return [stage for _, stage in longest]


def _end_s(spans: Sequence[Span]) -> float:
    return max(span.started_s if span.ended_s is None else span.ended_s for span in spans) or 1.0


def _most(samples: Sequence[MemorySample], values: Sequence[int], end_s: float, columns: int) -> list[int]:
    """The greatest value in each slice of time; in one without a sample, that of the slice before."""
    most: list[int | None] = [None] * columns
    for sample, value in zip(samples, values, strict=True):
        column = min(int(sample.at_s / end_s * columns), columns - 1)
        most[column] = max(most[column] or 0, value)
    filled, last = [], 0
    for value in most:
        last = last if value is None else value
        filled.append(last)
    return filled
