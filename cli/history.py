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
    from db import NoHistory, list_runs, open_history

    context.obj = load_config(config_path).history_url()
    if context.invoked_subcommand is not None:
        return
    from cli.table import print_runs

    try:
        with open_history(context.obj, create=False) as runs:
            summaries = list_runs(runs, limit)
            if not summaries:
                raise NoHistory(f"no runs yet in {runs.address}")
    except NoHistory as error:
        print(f"{error}; {_FIRST_RUN}")
        return
    print_runs(summaries)


@history.command()
@click.argument("run", metavar="RUN")
@click.option("--all", "list_all", is_flag=True, help="List every proof, however many.")
@click.pass_obj
def show(url: str, run: str, list_all: bool) -> None:
    """Show the run whose id is RUN or begins with it; of a large one, the first and last proofs."""
    from cli.table import MOST_LISTED, print_run
    from db import NoHistory, find_run, open_history, show_run

    try:
        with open_history(url, create=False) as runs:
            detail = show_run(runs, find_run(runs, run).id)
    except NoHistory as error:
        raise NoHistory(f"{error}; {_FIRST_RUN}") from error
    print_run(detail, None if list_all else MOST_LISTED)


_FIRST_RUN = "try: cuzk bench batch --type merkle"
