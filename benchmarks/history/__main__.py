"""`python -m benchmarks.history COMMAND`: measure, print, and end with status 1 where a bar is missed."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from benchmarks.history.server import own_server
from db import open_history, size_bytes, vacuum

BARS_S = {"sqlite": 2.0, "postgresql": 1.0}
MOST_BYTES_A_PARTITION = 2_000
MOST_COST = 0.005
ON = click.option(
    "--on", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", help="Which database. [sqlite]"
)


@click.group()
def cli() -> None:
    """Whether the history keeps its promises."""


@cli.command()
@ON
@click.option("--partitions", default=1_000_000, help="A thousand make a run. [1000000]")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="SQLite file to make, or to use if it is there."
)
def questions(on: str, partitions: int, keep: Path | None) -> None:
    """How long each question takes over a million partitions, and how many bytes these take.

    Then, unless the file is to be kept, how long it takes to copy a day of them, delete some, and vacuum.
    """
    from benchmarks.history.generate import generate
    from benchmarks.history.questions import ask_all, copies, timed

    with _address(on, keep) as (url, server_pid):
        with open_history(url) as history:
            if not _has_runs(url):
                begun_s = time.perf_counter()
                generate(history, partitions, report)
                report(f"made in {time.perf_counter() - begun_s:.0f} s")
            each_bytes = size_bytes(history) / partitions
        print(f"{on}: {each_bytes:,.0f} bytes a partition, of {MOST_BYTES_A_PARTITION:,} allowed")
        slow = [asked for asked in ask_all(url, server_pid, print) if asked.seconds > BARS_S[on]]
        with tempfile.TemporaryDirectory() as folder:
            for arguments in copies(Path(folder)) if keep is None else ():
                print(timed(arguments, url, server_pid).told())
    print(f"{on}: {len(slow)} questions took more than {BARS_S[on]:g} s")
    sys.exit(bool(slow) or each_bytes > MOST_BYTES_A_PARTITION)


@cli.command()
@ON
@click.option("--batches", default=5, help="Simulated ones, of a thousand proofs each. [5]")
def size(on: str, batches: int) -> None:
    """How many bytes a partition takes that was written as every run is and packed, and once vacuumed.

    What packing frees is used by the runs that follow, so one batch alone takes more.
    """
    from benchmarks.history.batches import record_simulated

    with _address(on, None) as (url, _), open_history(url) as history:
        for _ in range(batches):
            record_simulated(history, 1_000)
        before, after = (each / 1_000 / batches for each in vacuum(history))
    print(f"{on}: {before:,.0f} bytes a partition, {after:,.0f} once vacuumed")
    sys.exit(after > MOST_BYTES_A_PARTITION)


@cli.command()
@click.option("--proofs", default=20, help="Of each batch. [20]")
@click.option("--size", default=17, help="Power of two: constraints. [17]")
@click.option("--times", default=5, help="Batches. [5]")
def cost(proofs: int, size: int, times: int) -> None:
    """What recording takes of a batch's time, with a hundred memory samples a second."""
    from benchmarks.history.cost import measure

    found = measure(proofs, size, times, report)
    print(found.told())
    sys.exit(found.share > MOST_COST)


@cli.command()
@click.option("--away", default=60.0, help="Seconds for which the server is stopped. [60]")
@click.option("--kills", default=10, help="Batches to kill. [10]")
def loss(away: float, kills: int) -> None:
    """Whether every finished proof is in the history once: server stopped, process killed, disk full."""
    from benchmarks.history.loss import disk_full, killed, server_stopped

    results = [server_stopped(away, report), killed(kills, report), disk_full(report)]
    for result in results:
        print(result.told())
    sys.exit(any(result.lost or result.twice for result in results))


@cli.command()
@click.option("--processes", default=4, help="That write at once. [4]")
@click.option("--seconds", default=10.0, help="For so long. [10]")
def concurrency(processes: int, seconds: float) -> None:
    """Whether processes that write to one SQLite file at once get in each other's way."""
    from benchmarks.history.concurrency import write_at_once

    found = write_at_once(processes, seconds)
    print(found.told())
    sys.exit(bool(found.failed or found.rows_missing))


@contextmanager
def _address(on: str, keep: Path | None) -> Iterator[tuple[str, int | None]]:
    """The address of a history on that database, gone afterwards unless it is to be kept, and its server."""
    if on == "postgresql":
        with own_server("shared_buffers=512MB", "max_wal_size=4GB") as server:
            yield server.url, server.pid
    elif keep is not None:
        yield str(keep), None
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "history.db"), None


def _has_runs(url: str) -> bool:
    from db import list_runs

    with open_history(url) as history:
        return bool(list_runs(history, 1))


def report(line: str) -> None:
    """To stderr, so that stdout has the results alone."""
    click.echo(line, err=True)


if __name__ == "__main__":
    cli()
