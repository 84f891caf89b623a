"""Runs against daemons from the command line: under signals, with a line of progress, and told at the end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cli.bench.daemon_options import Where
from cli.bench.progress import ProgressLine
from cli.options import say

if TYPE_CHECKING:
    from bench.driving import Session
    from bench.finishing import Finished

T = TypeVar("T")
TIMED_OUT = 3
MOST_ERRORS = 5


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run it; a first signal cancels it and all it has submitted, a second one ends the process."""
    from flows.ends.signals import cancelled_by_signals

    async def cancellable() -> T:
        with cancelled_by_signals():
            return await work

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error


def driven(
    where: Where, budget: str | None, work: Callable[[Session], Coroutine[Any, Any, Finished]]
) -> Finished:
    """A run; its last lines are printed. The process ends with 3 where its time was over."""
    from bench.driving import TimeIsOver

    if budget is not None and not where.spawn:
        raise click.UsageError("--budget is the daemon's own; leave it out, or start one with --spawn")
    try:
        finished = run_async(_session(where, budget, work))
    except TimeIsOver as error:
        print(f"cuzk: {error}", file=sys.stderr)
        sys.exit(TIMED_OUT)
    print_finished(finished)
    return finished


async def _session(
    where: Where, budget: str | None, work: Callable[[Session], Coroutine[Any, Any, Finished]]
) -> Finished:
    from bench.driving import Session
    from bench.spawn import spawned

    config, line = where.config(), ProgressLine(sys.stderr)
    async with AsyncExitStack() as stack:
        if where.spawn:
            address = await stack.enter_async_context(spawned(where.config_path, budget, say))
        else:
            address = where.address(config)
        session = Session(
            address,
            config,
            sys.argv,
            line.print,
            line.show,
            where.how(config),
            where.timeout_s,
            where.silence_s,
            where.interval_s,
            where.vs,
        )
        return await work(session)


def print_finished(finished: Finished) -> None:
    """The summary, the comparison, and where all of it is."""
    from cli.history.compare import wording

    for line in finished.summary.lines():
        print(line)
    errors = [f"{each.name}: {each.error}" for each in finished.outcomes if each.error]
    for line in errors[:MOST_ERRORS]:
        print(line)
    if len(errors) > MOST_ERRORS:
        print(f"… and {len(errors) - MOST_ERRORS} more, in results.json")
    if finished.rss_growth is not None:
        print(f"RSS {100 * finished.rss_growth:+.2f} % over the run, by a straight line")
    for change in finished.changes:
        if change.before_count and change.after_count:
            told = f"{change.stage} {' '.join(wording(change))} {change.verdict}"
            print(f"against {finished.compared_with[:13]}: {told}")
    print(f"run      {finished.folder}")
