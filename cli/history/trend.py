"""`cuzk history trend`: how a stage's time went from version to version, or over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.history.compare import wording
from cli.history.options import filters, opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place
    from db import Filter

STAGES = ("wait", "load", "synthesize", "queue", "prove", "verify")


@click.command(short_help="How a stage's time changed over versions or weeks.")
@filters
@click.option("--stage", type=click.Choice(STAGES), default="prove", show_default=True, help="Of this stage.")
@click.option(
    "--by",
    type=click.Choice(["version", "week", "day"]),
    default="version",
    show_default=True,
    help="From one to the next of these.",
)
@json_option
@click.pass_obj
def trend(place: Place, where: Filter, stage: str, by: str, as_json: bool) -> None:
    """Mean and median seconds of a stage, for each circuit, and what changed since the line before.

    Of partitions that succeeded; real ones, unless --source says otherwise.
    """
    from dataclasses import replace

    from cli.history.output import Column, print_rows, seconds
    from db import trend as ask

    with opened(place) as history:
        points = ask(history, stage, by, replace(where, source=where.source or "real"))  # type: ignore[arg-type]  # click checked it
    columns = [
        Column("circuit", lambda row: row.circuit, right=False),
        Column(by, lambda row: row.point, right=False),
        Column("count", lambda row: f"{row.count:,}"),
        Column("mean", lambda row: f"{seconds(row.mean_s)} s"),
        Column("p50", lambda row: f"{seconds(row.p50_s)} s"),
        Column("change", lambda row: wording(row.change)[0]),
        Column("interval", lambda row: wording(row.change)[1]),
        Column("verdict", lambda row: "" if row.change is None else row.change.verdict, right=False),
    ]
    print_rows(points, columns, as_json)
