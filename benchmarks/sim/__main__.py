"""`python -m benchmarks.sim COMMAND`: measure, print, and end with status 1 where a bar is missed."""

from __future__ import annotations

import json
from pathlib import Path

import click

from benchmarks.circuits.prepared import default_folder

FOLDER = click.Path(path_type=Path)


@click.group()
def cli() -> None:
    """How fast the simulator is, and how near to what is real."""


@cli.command()
@click.option("--out", type=FOLDER, default="build/benchmarks/sim", help="For the history. [build/…/sim]")
@click.option("--rounds", default=2, help="How often each batch is proved. [2]")
def record(out: Path, rounds: int) -> None:
    """Prove the batches that `accuracy` predicts, and keep them as OUT/history.db."""
    from benchmarks.sim.recording import record_batches

    out.mkdir(parents=True, exist_ok=True)
    runs = record_batches(out / "history.db", default_folder(), rounds, report)
    (out / "runs.json").write_text(json.dumps(runs, indent=1))
    click.echo(json.dumps(runs))


def report(line: str) -> None:
    """To stderr, so that stdout has results alone."""
    click.echo(line, err=True)


if __name__ == "__main__":
    cli()
