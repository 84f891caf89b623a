"""`cuzk history failures`: what failed, why, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.history.options import filters, opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place
    from db import Filter


@click.command(short_help="What failed, why, and how often.")
@filters
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Newest failures to list."
)
@json_option
@click.pass_obj
def failures(place: Place, where: Filter, limit: int, as_json: bool) -> None:
    """How many partitions of each circuit failed, and the newest failed and interrupted proofs."""
    from dataclasses import asdict

    from cli.history.output import Column, local, percent, print_json, print_rows
    from cli.table import RUN_ID_SHOWN
    from db import failure_rates
    from db import failures as ask

    with opened(place) as history:
        rates, newest = failure_rates(history, where), ask(history, where, limit)
    if as_json:
        print_json({"rates": [asdict(rate) for rate in rates], "failures": [asdict(each) for each in newest]})
        return
    counts = [
        Column("circuit", lambda row: row.circuit, right=False),
        Column("partitions", lambda row: f"{row.partition_count:,}"),
        Column("failed", lambda row: f"{row.failed_count:,}"),
        Column("share", lambda row: percent(row.failed_count / row.partition_count).lstrip("+")),
        Column("interrupted", lambda row: f"{row.interrupted_count:,}"),
        Column("cancelled", lambda row: f"{row.cancelled_count:,}"),
    ]
    print_rows(rates, counts, as_json=False)
    ends = [
        Column("ended", lambda row: local(row.at), right=False),
        Column("run", lambda row: row.run_id[:RUN_ID_SHOWN], right=False),
        Column("proof", lambda row: row.proof, right=False),
        Column("state", lambda row: row.state, right=False),
        Column("error", lambda row: row.error or "", right=False),
    ]
    if newest:
        print_rows(newest, ends, as_json=False)
