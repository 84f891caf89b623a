"""`cuzk history`: the runs so far, and one of them."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import config_option


@click.group(invoke_without_command=True, short_help="List the runs so far, or show one.")
@config_option
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Newest runs to list."
)
@click.pass_context
def history(context: click.Context, config_path: Path | None, limit: int) -> None:
    """List the runs, real and simulated, the newest first; `cuzk history show RUN` shows one.

    A run whose process is gone is listed as interrupted.
    """
    from config import load_config
    from db import list_runs, open_history

    context.obj = load_config(config_path).history_url()
    if context.invoked_subcommand is not None:
        return
    from cli.table import print_runs

    with open_history(context.obj) as runs:
        summaries = list_runs(runs, limit)
        if not summaries:
            print(f"no runs yet in {runs.address}; try: cuzk bench batch --type merkle")
            return
        print_runs(summaries)


@history.command()
@click.argument("run", metavar="RUN")
@click.pass_obj
def show(url: str, run: str) -> None:
    """Show the run whose id is RUN or begins with it."""
    from cli.table import print_run
    from db import find_run, open_history, show_run

    with open_history(url) as runs:
        print_run(show_run(runs, find_run(runs, run).id))
