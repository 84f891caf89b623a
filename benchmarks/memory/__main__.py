"""`python -m benchmarks.memory COMMAND`: measure, print, and end with status 1 where a promise is broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict

import click

from benchmarks.circuits.prepared import default_folder
from benchmarks.memory.check import check
from benchmarks.memory.circuits import Made, make
from benchmarks.memory.kill import kill_at_random
from benchmarks.memory.two import two_processes
from benchmarks.memory.worker import THREADS, Task, demand_bytes
from engine import load_shape

SIZES = click.option("--sizes", default="16,17,18", help="Powers of two: constraints. [16,17,18]")
ROUNDS = click.option("--rounds", default=8, help="Proofs of each circuit. [8]")
OVER = click.option("--over", default=5.0, help="Demand, in budgets. [5]")


@click.group()
def cli() -> None:
    """Whether the engine keeps its promises about memory."""


@cli.command()
@SIZES
@ROUNDS
@OVER
def one(sizes: str, rounds: int, over: float) -> None:
    """One process and a demand of several budgets: RSS never above the budget, each long wait explained."""
    with tempfile.TemporaryDirectory() as folder:
        task = task_of("one", sizes, rounds, over, folder)
        with subprocess.Popen(task.command(), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            start_bytes = json.loads(process.stdout.readline())["ready"]
            for line in process.stdout:
                click.echo(line, nl=False, err=True)
        found = check(task.history, task.run_id, start_bytes, task.budget_bytes)
    click.echo(json.dumps({"budget_bytes": task.budget_bytes, "start_bytes": start_bytes, **asdict(found)}))
    sys.exit(bool(process.returncode or found.over_samples or found.without_cause))


@cli.command()
@SIZES
@ROUNDS
@OVER
def two(sizes: str, rounds: int, over: float) -> None:
    """Two processes on one budget: never more together; what one held returns soon after it is killed."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = two_processes(task_of("two", sizes, rounds, over, folder), report)
        except (RuntimeError, TimeoutError) as error:
            raise click.ClickException(str(error)) from error
    click.echo(json.dumps(found.as_dict()))
    sys.exit(not found.kept)


@cli.command()
@click.option("--times", default=20, help="Runs to kill. [20]")
@click.option("--seed", default=0, help="Of the moments. [0]")
@click.option("--size", default=12, help="Power of two: constraints. [12]")
def kill(times: int, seed: int, size: int) -> None:
    """Kill a batch at random moments: each time ledger, history and files are right, and a next run works."""
    with tempfile.TemporaryDirectory() as folder:
        found = kill_at_random(task_of("kill", str(size), 6, 3.0, folder), times, seed, report)
    click.echo(json.dumps(found))


@cli.command()
def isolation() -> None:
    """Whether a larger synthesis pool slows the proving pool, with cores of their own and without."""
    from benchmarks.memory.isolation import isolation as measure

    click.echo(json.dumps(measure(report)))


@cli.command()
@SIZES
@click.option("--proofs", default=8, help="Of each circuit in a batch. [8]")
def pools(sizes: str, proofs: int) -> None:
    """What the sizes of the two pools make of a batch."""
    from benchmarks.memory.pools import pools as measure

    specs = [each.spec(len(os.sched_getaffinity(0))) for each in circuits_of(sizes)]
    click.echo(json.dumps(measure(specs, proofs, report)))


def circuits_of(sizes: str) -> list[Made]:
    """The circuits of these powers of two constraints."""
    return make([int(size) for size in sizes.split(",")], default_folder(), report)


def task_of(name: str, sizes: str, rounds: int, over: float, folder: str) -> Task:
    """The budget is the demand over `over`, but enough for the largest circuit."""
    circuits = circuits_of(sizes)
    shapes = [load_shape(each.spec(THREADS)) for each in circuits]
    largest_bytes = max(each.entries_bytes + each.working_bytes for each in shapes)
    budget_bytes = max(int(demand_bytes(shapes, rounds) / over), largest_bytes)
    return Task(name, [each.as_dict() for each in circuits], rounds, budget_bytes, folder)


def report(line: str) -> None:
    """To stderr, so that stdout has the result alone."""
    click.echo(line, err=True)


if __name__ == "__main__":
    cli()
