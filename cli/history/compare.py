"""`cuzk history compare RUN RUN`: whether the second was faster or slower, or whether that is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.history.options import opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place


@click.command(short_help="Whether one run was faster than another, stage by stage.")
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@json_option
@click.pass_obj
def compare(place: Place, before: str, after: str, as_json: bool) -> None:
    """Compare the mean seconds of each stage in the second run with those in the first.

    Of partitions that succeeded, of circuits that both runs proved. The interval is a bootstrap's, of 99 %
    confidence; a change is noise where it may as well be none.
    """
    from cli.history.output import Column, print_rows, seconds
    from db import compare_runs, find_run

    with opened(place) as history:
        first, second = find_run(history, before), find_run(history, after)
        changes = compare_runs(history, first.id, second.id)
    columns = [
        Column("stage", lambda row: row.stage, right=False),
        Column("before", lambda row: f"{seconds(row.before_s)} s"),
        Column("after", lambda row: f"{seconds(row.after_s)} s"),
        Column("change", lambda row: wording(row)[0]),
        Column("interval", lambda row: wording(row)[1]),
        Column("verdict", lambda row: row.verdict, right=False),
    ]
    print_rows([row for row in changes if row.before_count and row.after_count], columns, as_json)


def wording(change: Any) -> tuple[str, str]:
    """A change and its interval, in percent; dashes where there were too few values to say."""
    from cli.history.output import percent

    if change is None or change.verdict == "too few":
        return "–", "–"
    return percent(change.change), f"{percent(change.low)} to {percent(change.high)}"
