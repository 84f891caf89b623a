"""`python -m benchmarks.flows COMMAND`: measure, print, and end with status 1 where a bar is missed."""

from __future__ import annotations

import json
import sys

import click

from benchmarks.flows.setting import setting

MOST_RATIO = 1.08
MOST_BYTES_A_TASK = 30_000
MOST_BYTES_A_PROOF = 10_000
MOST_TASKS = 1000
MOST_CANCEL_S = 6.0
MOST_SIMULATED_S = 180.0
MOST_START_S = 2.0
MOST_ANSWER_S = 5.0


@click.group()
def cli() -> None:
    """Whether batches as Prefect flows keep their promises. Each command starts a server of its own."""


@cli.command()
@click.option("--size", default=16, help="Power of two: constraints. [16]")
@click.option("--proofs", default=20, help="Of a batch. [20]")
@click.option("--concurrency", default=3, help="Proofs at a time. [3]")
@click.option("--rounds", default=3, help="Pairs of batches. [3]")
@click.option("--device", default="none", help="What proves, as for `cuzk bench batch`. [none]")
def overhead(size: int, proofs: int, concurrency: int, rounds: int, device: str) -> None:
    """A batch as a flow against the same through the engine alone."""
    from benchmarks.flows.overhead import overhead as measure

    with setting(size) as where:
        found = measure(where, proofs, concurrency, rounds, device)
    _conclude(found, float(str(found["ratio"])) <= MOST_RATIO)


@cli.command()
@click.option("--proofs", default=20, help="Of a batch. [20]")
def recorded(proofs: int) -> None:
    """Every task in a final state after success, failure, cancel and SIGKILL."""
    from benchmarks.flows.ends import recorded as measure

    with setting() as where:
        found = measure(where, proofs)
    ends = [each for each in found.values() if isinstance(each, dict)]
    whole = all(each.get("started", 0) <= each["recorded"] and not each["not_final"] for each in ends)
    _conclude(found, whole)


@cli.command()
@click.option("--size", default=16, help="Power of two: constraints. [16]")
@click.option("--times", default=5, help="Cancels. [5]")
def cancel(size: int, times: int) -> None:
    """From a cancel in the UI until no process is left."""
    from benchmarks.flows.ends import cancelled

    with setting(size) as where:
        found = cancelled(where, times)
    _conclude(found, float(str(found["most_s"])) <= MOST_CANCEL_S and not found["temporary_files_left"])


@cli.command()
@click.option("--small", default=140, help="Proofs of the batch that is shown task by task. [140]")
@click.option("--large", default=2000, help="Proofs of the batch in groups. [2000]")
def memory(small: int, large: int) -> None:
    """What the process keeps for each task, and arrays that outlive their proof."""
    from benchmarks.flows.held import held

    with setting():
        found = held(small, large)
    kept = int(str(found["bytes_a_task"])) < MOST_BYTES_A_TASK and not found["arrays_alive_after_2_s"]
    _conclude(found, kept)


@cli.command()
@click.option("--proofs", default=1000, help="Of the batch. [1000]")
@click.option("--partitions", default=8, help="Of a proof. [8]")
def simulated(proofs: int, partitions: int) -> None:
    """A large batch in mode "simulated", and how the server answers meanwhile."""
    from benchmarks.flows.model import simulated as measure

    with setting() as where:
        found = measure(where, proofs, partitions)
    soon = float(str(found["seconds"])) < MOST_SIMULATED_S
    _conclude(found, soon and float(str(found["slowest_answer_s"])) < MOST_ANSWER_S)


@cli.command()
@click.option("--proofs", default=10_000, help="Of each batch. [10000]")
def large(proofs: int) -> None:
    """A very large batch, simulated and real: hundreds of tasks, and memory that is flat."""
    from benchmarks.flows.large import large as measure

    with setting() as where:
        found = measure(where, proofs)
    batches = [each for each in found.values() if isinstance(each, dict)]
    few = all(each["tasks"] <= MOST_TASKS for each in batches)
    flat = all(each["bytes_a_proof_kept"] <= MOST_BYTES_A_PROOF for each in batches)
    _conclude(found, few and flat)


@cli.command()
@click.option("--times", default=5, help="Flows. [5]")
def start(times: int) -> None:
    """How soon a flow runs."""
    from benchmarks.flows.model import start as measure

    with setting() as where:
        found = measure(where, times)
    _conclude(found, float(str(found["most_s"])) <= MOST_START_S)


def _conclude(found: dict[str, object], kept: bool) -> None:
    click.echo(json.dumps(found | {"bar_kept": kept}))
    sys.exit(not kept)


if __name__ == "__main__":
    cli()
