"""`cuzk bench single`: one proof through a daemon."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from cli.bench.daemon_options import Where, public_of, public_options, run_options
from cli.bench.driven import driven


@click.command(short_help="Have a daemon prove once.")
@click.option(
    "--type",
    "-t",
    "circuit",
    metavar="NAME",
    required=True,
    help="Circuit, or kind of proof: porep, snap, wpost, winning.",
)
@click.option("--inputs", type=click.Path(path_type=Path), metavar="FILE", help="Witness or input signals.")
@click.option("--priority", type=click.Choice(["critical", "high", "normal", "low"]), help="Who goes first.")
@click.option("--budget", metavar="SIZE", help="Of the daemon that --spawn starts.")
@public_options
@run_options
def single(
    circuit: str, inputs: Path | None, priority: str | None, budget: str | None, where: Where, **options: Any
) -> None:
    """Submit one proof, wait for it, and tell what it took.

    A circuit goes by its name, with its own inputs or those given. A kind of proof goes by the public
    protocol, to the circuit that the daemon's settings have for it.
    """
    from bench.asked import asked
    from bench.driving import drive
    from bench.works import one_after_another

    ask = asked(circuit, inputs, public_of(options), priority=priority or "")
    work = one_after_another([ask], 1, 1, False)
    plan = {"command": "single", "circuit": circuit, "count": 1, "concurrency": 1}
    finished = driven(where, budget, lambda session: drive(session, f"{circuit} ×1", [ask], 1, 1, plan, work))
    sys.exit(0 if finished.summary.succeeded == 1 else 1)
