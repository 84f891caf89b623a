"""`cuzk history list`: the newest runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.history.options import FIRST_RUN, filters, opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place
    from db import Filter


@click.command("list", short_help="List the newest runs.")
@filters
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Newest runs to list."
)
@json_option
@click.pass_obj
def list_runs(place: Place, where: Filter, limit: int, as_json: bool) -> None:
    """List the newest runs, the newest first; `cuzk history show RUN` shows one."""
    from cli.history.output import print_json
    from cli.table import print_runs, run_values
    from db import Filter, NoHistory
    from db import list_runs as ask

    try:
        with opened(place) as history:
            summaries = ask(history, limit, where)
            if not summaries and where == Filter():
                raise NoHistory(f"no runs yet in {history.address}; {FIRST_RUN}")
    except NoHistory as error:
        print("[]" if as_json else error)
        return
    if as_json:
        print_json([run_values(summary) for summary in summaries])
    elif summaries:
        print_runs(summaries)
    else:
        print("no run matches")
