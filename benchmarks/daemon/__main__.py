"""`python -m benchmarks.daemon COMMAND`: measure, print, and end with status 1 where a bar is missed."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import click

from benchmarks.machine import machine

MOST_TIME_RATIO, LEAST_RATE_RATIO, MOST_RSS_TREND, MOST_RSS_GROWTH = 1.03, 0.8, 0.01, 1.05


@click.group()
def cli() -> None:
    """Whether a daemon keeps its promises. Each command starts daemons of its own."""


@cli.command()
def client() -> None:
    """A client that was generated from the public proto, in a process without any of our modules."""
    from benchmarks.daemon.foreign import foreign

    _conclude(foreign(), True)


@cli.command()
@click.option("--size", default=16, help="Power of two: constraints of the batch's circuit. [16]")
@click.option("--proofs", default=20, help="Of the batch. [20]")
@click.option("--concurrency", default=3, help="Proofs at a time. [3]")
@click.option("--small", default=1000, help="Small proofs. [1000]")
@click.option("--rounds", default=3, help="Pairs of each. [3]")
def overhead(size: int, proofs: int, concurrency: int, small: int, rounds: int) -> None:
    """A batch, and many small proofs, through a daemon against the same in process."""
    from benchmarks.circuits.prepared import default_folder
    from benchmarks.daemon.overhead import overhead as measure
    from benchmarks.memory.circuits import make

    (files,) = make([size], default_folder(), print)
    dense = f'[circuits.dense]\nzkey = "{files.zkey}"\nwitness = "{files.witness}"\n'
    large = asyncio.run(measure("dense", dense, proofs, concurrency, rounds, "4GiB"))
    little = asyncio.run(measure("multiplier", "", small, 16, rounds, "1GiB"))
    good = float(str(large["time_ratio"])) <= MOST_TIME_RATIO
    _conclude(
        {"batch": large, "small": little}, good and float(str(little["rate_ratio"])) >= LEAST_RATE_RATIO
    )


@cli.command()
@click.option("--clients", default=200, help="At once. [200]")
@click.option("--submits", default=10_000, help="By all together. [10000]")
@click.option("--kill/--no-kill", default=True, help="SIGKILL in the middle. [yes]")
def load(clients: int, submits: int, kill: bool) -> None:
    """Clients that submit, cancel and send nonsense, and a daemon that is killed."""
    from benchmarks.daemon.load import load as measure

    found = asyncio.run(measure(clients, submits, kill))
    rss_mib = found["rss_mib"]
    assert isinstance(rss_mib, list)
    clean = not (found["invalid_proofs"] or found["delivered_differently"] or found["files_left"])
    _conclude(found, clean and rss_mib[-1] <= MOST_RSS_GROWTH * rss_mib[0])


@cli.command()
@click.option("--minutes", default=60.0, help="How long. [60]")
@click.option("--clients", default=8, help="At once. [8]")
def soak(minutes: float, clients: int) -> None:
    """A mix of circuits for an hour: memory must not grow."""
    from benchmarks.daemon.soak import soak as measure

    found = asyncio.run(measure(minutes, clients))
    _conclude(found, abs(float(str(found["rss_trend"]))) <= MOST_RSS_TREND)


@cli.command()
@click.option("--messages", default=10_000, help="How many. [10000]")
@click.option("--seed", default=1, help="Of the random numbers. [1]")
def fuzz(messages: int, seed: int) -> None:
    """Messages that nobody meant: no crash, no hang, and nothing of them in a log."""
    from benchmarks.daemon.fuzz import fuzz as measure

    found = asyncio.run(measure(messages, seed))
    bad = ("crashed", "unanswered", "mistakes", "logged")
    _conclude(found, not any(found[name] for name in bad) and bool(found["proves_after"]))


def _conclude(found: dict[str, object], good: bool) -> None:
    print(json.dumps({**found, "machine": machine(sorted(os.sched_getaffinity(0)))}, indent=1))
    if not good:
        print("a bar is missed", file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    cli()
