"""`cuzk serve`: runs on this host what is due."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import INPUT_FILE, say
from config.bounds import MOST


@click.command(short_help="Run the deployments that are due on this host, until Ctrl-C.")
@click.option(
    "--queue", metavar="NAME", help="This host's own queue, beside the common one (default: its name)."
)
@click.option("--limit", type=click.IntRange(1, MOST), help="Runs at a time (default: any number).")
@click.option(
    "--file", "path", type=INPUT_FILE, metavar="FILE", help="Another prefect.yaml than the bundled one."
)
def serve(queue: str | None, limit: int | None, path: Path | None) -> None:
    """Run what is due, each in a process of its own; all share this host's memory budget.

    Takes runs from the work pool's common queue, and from a queue of this host's own. Without
    PREFECT_API_URL it uses the server that `cuzk ui` started, or starts one that lasts as long. Makes the
    deployments if there are none yet. At Ctrl-C or SIGTERM runs end as cancelled.
    """
    from flows.deployments.deployed import serve_host

    serve_host(path, queue, limit, say)
