"""`cuzk torture`: the memory manager under random machines, jobs and faults."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from cli.options import available_cores, say
from config.bounds import MOST, MOST_PROOFS

if TYPE_CHECKING:
    from sim.torture.machine import TortureMachine
    from sim.torture.trial import Finding


@click.command(short_help="Check the memory manager under random jobs and faults.")
@click.option(
    "--seeds", "count", type=click.IntRange(min=1), metavar="N", help="Seeds to run  [default: 1000]"
)
@click.option(
    "--start",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="S",
    help="The first of them.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="S", help="Run this one alone, and tell what it did."
)
@click.option("--jobs", type=click.IntRange(1, MOST), metavar="N", help="Processes  [default: every core]")
@click.option(
    "--partitions",
    type=click.IntRange(1, MOST_PROOFS),
    default=100,
    show_default=True,
    help="Partitions of a seed.",
)
@click.option("--log", is_flag=True, help="With --seed: print the decision log too.")
def torture(
    count: int | None, start: int, seed: int | None, jobs: int | None, partitions: int, log: bool
) -> None:
    """Run the admission policy under random machines, workloads and faults, and check all its rules.

    A seed is a machine, a budget, jobs, and what goes wrong: failures at every stage, cancels,
    deadlines, slow disks, lost devices, a resized budget, a process that dies. After every event
    the rules are checked by books of their own. The first violation is cut down to few jobs and
    faults and printed with its decision log; status 1 then.
    """
    if seed is not None and (count is not None or start or jobs):
        raise click.UsageError("--seed runs one seed alone: leave out --seeds, --start and --jobs")
    if log and seed is None:
        raise click.UsageError("--log needs --seed: the log is that of one seed")
    if seed is not None:
        finding = _run_one(seed, partitions, log)
    else:
        finding = _run(range(start, start + (count or 1000)), partitions, jobs or available_cores())
    if finding is not None:
        _print_shrunk(finding)
        sys.exit(1)


def _run_one(seed: int, partitions: int, log: bool) -> Finding | None:
    from engine.words import telling
    from sim.torture.report import log_digest, log_lines
    from sim.torture.trial import run_seed

    machines: list[TortureMachine] = []

    def word() -> str:
        if not machines:
            return f"making the case of seed {seed}"
        events, admitted = len(machines[-1].log), machines[-1].admitted
        return f"{events} events, {admitted} partitions admitted of about {partitions}, no violation"

    with telling(say, word):
        outcome = run_seed(seed, partitions, watch=machines.append)
    if outcome.finding is None:
        what = f"{outcome.admitted} partitions admitted, {len(outcome.log)} events"
        print(f"seed {seed}: {what}, no violation; decision log {log_digest(outcome.log)}")
    if log:
        print(*log_lines(outcome.log, len(outcome.log)), sep="\n")
    return outcome.finding


def _run(seeds: range, partitions: int, processes: int) -> Finding | None:
    """The first finding, or None with the tally printed."""
    from engine.words import telling
    from sim.torture.campaign import Share, run_seeds

    say(f"torturing the policy with seeds {seeds.start} to {seeds.stop - 1}, {processes} processes")
    began_s, done = time.monotonic(), Share(0, 0, 0, 0.0)
    with telling(say, lambda: f"{done.seeds} of {len(seeds)} seeds, no violation"):
        for share in run_seeds(seeds, partitions, processes):
            if share.findings:
                return share.findings[0]
            done += share
    elapsed_s = time.monotonic() - began_s
    print(f"{done.seeds} seeds, {done.partitions} partitions admitted, {done.events} events: no violation")
    each_s = f"{done.seeds / elapsed_s:.3g} seeds a second"
    print(f"{each_s}, {done.seeds / done.cpu_s:.3g} in each second of a processor")
    return None


def _print_shrunk(finding: Finding) -> None:
    from engine.words import telling
    from sim.torture.report import finding_lines
    from sim.torture.trial import shrink

    say(f"seed {finding.case.seed} violates: {finding.why}; cutting it down")
    with telling(say, lambda: "cutting it down"):
        smallest = shrink(finding)
    print(*finding_lines(smallest), sep="\n")
