"""`cuzk history`: what the runs so far tell. One file a command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import click

from cli.history.compare import compare
from cli.history.failures import failures
from cli.history.list import list_runs
from cli.history.options import place_of
from cli.history.show import show
from cli.history.sql import sql
from cli.history.stats import stats
from cli.history.transfer import export, import_
from cli.history.trend import trend
from cli.history.upkeep import prune, vacuum
from cli.history.waits import waits
from cli.options import config_option, leave, look_for_no_garbage


@click.group(invoke_without_command=True, short_help="Ask the runs so far: list, show, stats, compare, …")
@config_option
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Newest runs to list."
)
@click.pass_context
def history(context: click.Context, config_path: Path | None, limit: int) -> None:
    """Ask the runs so far, real and simulated; without a command, list the newest.

    A run whose process is gone is listed as interrupted. Times are shown in the local zone and kept as UTC.
    """
    look_for_no_garbage()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy multiplies no matrices here, so needs no pool
    context.obj = place_of(config_path)
    if context.invoked_subcommand is None:
        context.invoke(list_runs, limit=limit)


@history.result_callback()
def end(*_: object, **__: object) -> Callable[[], NoReturn]:
    """How the process is to end."""
    return leave


for command in (
    list_runs, show, stats, compare, trend, failures, waits, sql, export, import_, prune, vacuum,
):  # fmt: skip
    history.add_command(command)
