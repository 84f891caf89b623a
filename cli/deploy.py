"""`cuzk deploy`: nightly batches and what else runs on a schedule."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import INPUT_FILE, say


@click.command(short_help="Make the deployments, with schedules and automations, on a Prefect server.")
@click.option(
    "--file", "path", type=INPUT_FILE, metavar="FILE", help="Another prefect.yaml than the bundled one."
)
@click.option(
    "--notify", metavar="URL", help="A webhook that is told of each run that fails, crashes, or is not begun."
)
def deploy(path: Path | None, notify: str | None) -> None:
    """Apply prefect.yaml to the Prefect server: the work pool, the deployments with their schedules and
    limits, and the automation that closes runs whose process died.

    What was edited in the UI stays, unless the file has changed. The server is the one of PREFECT_API_URL,
    else the one that `cuzk ui` started; `cuzk serve` then runs what is due.
    """
    from flows.deployments.deployed import apply_file

    apply_file(path, notify, say, print)
