"""`cuzk history stats`: how long each stage takes, and how much memory, in percentiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.history.options import filters, opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place
    from db import Filter

COLUMNS = ("wait", "load", "synthesize", "queue", "prove", "verify", "reserved", "measured")
DIMENSIONS = ("circuit", "device", "version", "week", "day", "host", "source", "state")


def split_dimensions(_context: object, _parameter: object, text: str) -> tuple[str, ...]:
    """The dimensions named, with commas between them."""
    from config import nearest

    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in DIMENSIONS:
            guess = nearest(name, DIMENSIONS)
            hint = f"did you mean {guess!r}?" if guess else f"expected some of {', '.join(DIMENSIONS)}"
            raise click.BadParameter(f"found {name!r}: {hint}")
        if names.count(name) > 1:
            raise click.BadParameter(f"found {name!r} twice: once is enough")
    return names


@click.command(short_help="Percentiles of each stage and of memory.")
@filters
@click.option(
    "--by",
    default="circuit,device",
    show_default=True,
    callback=split_dimensions,
    metavar="WHAT,…",
    help=f"Tell apart by these of: {', '.join(DIMENSIONS)}.",
)
@click.option("--stage", type=click.Choice(COLUMNS), multiple=True, help="Of this only; may be repeated.")
@json_option
@click.pass_obj
def stats(place: Place, where: Filter, by: tuple[str, ...], stage: tuple[str, ...], as_json: bool) -> None:
    """Percentiles of each stage's seconds, and of reserved and measured bytes, over partitions."""
    from cli.history.output import Column, print_rows
    from db import stage_statistics

    with opened(place) as history:
        found = stage_statistics(history, by, where, between(stage))  # type: ignore[arg-type]  # checked above
    rows = [row for row in found if not stage or row.stage.removesuffix("_bytes") in stage]
    named = [Column(name, lambda row, at=at: row.group[at], right=False) for at, name in enumerate(by)]
    figures = ("mean", "p50", "p90", "p99", "max")
    numbers = [Column(name, lambda row, name=name: amount(row.stage, getattr(row, name))) for name in figures]
    what = Column("stage", lambda row: row.stage.removesuffix("_bytes"), right=False)
    print_rows(rows, [*named, what, Column("count", lambda row: f"{row.count:,}"), *numbers], as_json)


def between(names: tuple[str, ...]) -> list[str]:
    """The history's columns from the first of these to the last, or all; no more of them are read."""
    from db.summaries import COLUMNS as ALL

    wanted = [COLUMNS.index(name) for name in names] or range(len(COLUMNS))
    return list(ALL[min(wanted) : max(wanted) + 1])


def amount(stage: str, value: float) -> str:
    """Bytes or seconds, as the column is."""
    from cli.history.output import seconds
    from config import format_size

    return format_size(int(value)) if stage.endswith("_bytes") else f"{seconds(value)} s"
