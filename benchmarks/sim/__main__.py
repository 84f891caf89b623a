"""`python -m benchmarks.sim COMMAND`: measure, print, and end with status 1 where a bar is missed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from benchmarks.circuits.prepared import default_folder

FOLDER = click.Path(path_type=Path)
OUT = click.option(
    "--out", type=FOLDER, default="build/benchmarks/sim", help="Folder. [build/benchmarks/sim]"
)


@click.group()
def cli() -> None:
    """How fast the simulator is, and how near to what is real."""


@cli.command()
def speed() -> None:
    """At least 30,000 partitions a second of one core, and a storage provider's month in a minute."""
    from benchmarks.sim.speed import measure, missed

    found = measure(report)
    click.echo(json.dumps(asdict(found)))
    end(missed(found))


@cli.command()
@OUT
@click.option("--rounds", default=2, help="How often each batch is proved. [2]")
def record(out: Path, rounds: int) -> None:
    """Prove the batches that `accuracy` predicts, and keep them as OUT/history.db."""
    _record(out, rounds)


@cli.command()
@OUT
@click.option("--rounds", default=2, help="How often each batch is proved; 0: those that OUT has. [2]")
def accuracy(out: Path, rounds: int) -> None:
    """Prove six batches, learn from one, and predict the others.

    Makespan within 7 % (median) and 12 % (worst), peak memory within 8 %, of the mean of each batch's runs.
    Wants a machine on which nothing else runs.
    """
    from benchmarks.sim.accuracy import errors_of_others, learn, missed, recorded_batches, summary
    from db import open_history

    if rounds:
        _record(out, rounds)
    with open_history(out / "history.db", create=False) as history:
        batches = recorded_batches(history)
    errors = errors_of_others(batches, learn(batches))
    for each in errors:
        spread = "–" if each.spread is None else f"{each.spread:.1%}"
        values = f"{each.predicted:12,.2f} predicted, {each.measured:12,.2f} measured"
        click.echo(f"{each.name:32} {each.figure:16} {values}, {each.error:+.1%}, spread of runs {spread}")
    figures = summary(errors)
    click.echo(json.dumps(figures))
    end(missed(figures))


@cli.command()
def published() -> None:
    """The published runs of the Rust daemon: seconds a proof within 5 %, peak memory within 8 %."""
    from sim import load_profile
    from sim.published import read_published, row_errors

    table, missing = read_published(), []
    for row, _, errors in row_errors(
        table.measured, table.circuit, load_profile("zen4-96-core-rtx5070ti-755gib")
    ):
        text = ", ".join(f"{name} {error:+.1%}" for name, error in errors.items())
        asked = f"{row.partition_workers} partition workers, {row.gpu_workers} GPU workers"
        click.echo(f"{asked}: {text}")
        if abs(errors["seconds_per_proof"]) > 0.05 or abs(errors.get("peak_rss_gib", 0.0)) > 0.08:
            missing.append(f"{asked}: {text}")
    end(missing)


@cli.command()
@click.option("--write", is_flag=True, help="Put what is printed and drawn now into the page.")
def planning(write: bool) -> None:
    """Run every command of docs/planning.md, and compare what it prints and draws with what the page says."""
    from tempfile import TemporaryDirectory

    from benchmarks.sim.planning import PAGE, check, pictures_that_differ
    from benchmarks.sim.planning_facts import FACTS

    with TemporaryDirectory() as name:
        missing, page = check(FACTS, report, Path(name))
        pictures = pictures_that_differ(Path(name))
    if write:
        PAGE.write_text(page)
        for path, png in pictures.items():
            path.write_bytes(png)
    end([*missing, *(f"{path.name}: the command draws something else" for path in pictures)])


def _record(out: Path, rounds: int) -> None:
    from benchmarks.sim.recording import record_batches

    out.mkdir(parents=True, exist_ok=True)
    runs = record_batches(out / "history.db", default_folder(), rounds, report)
    (out / "runs.json").write_text(json.dumps(runs, indent=1))


def end(missing: Sequence[str]) -> None:
    """With status 1 where a bar is missed."""
    for line in missing:
        report(f"missed: {line}")
    sys.exit(bool(missing))


def report(line: str) -> None:
    """To stderr, so that stdout has results alone."""
    click.echo(line, err=True)


if __name__ == "__main__":
    cli()
