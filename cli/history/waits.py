"""`cuzk history waits`: what partitions waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.history.options import filters, opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place
    from db import Filter


@click.command(short_help="What partitions waited for, and how long.")
@filters
@json_option
@click.pass_obj
def waits(place: Place, where: Filter, as_json: bool) -> None:
    """Seconds that partitions have waited, by circuit and cause, the longest first.

    Each wait counts whole for what it lasted longest for. Partitions wait side by side, so the sum may be
    longer than the runs took.
    """
    from cli.history.output import Column, print_rows, seconds
    from db import wait_totals

    with opened(place) as history:
        totals = wait_totals(history, where)
    columns = [
        Column("circuit", lambda row: row.circuit, right=False),
        Column("cause", lambda row: row.cause, right=False),
        Column("waited", lambda row: f"{seconds(row.seconds)} s"),
        Column("partitions", lambda row: f"{row.partition_count:,}"),
        Column("a partition", lambda row: f"{seconds(row.seconds_a_partition)} s"),
    ]
    print_rows(totals, columns, as_json)
