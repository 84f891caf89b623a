"""What the commands share that measure this very process: a circuit, a run's folder, a monitor."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import config_option, json_option, say, threads_option, with_options
from config.bounds import MOST_PROOFS

if TYPE_CHECKING:
    from bench.measured import MeasuredRun
    from bench.statistics import Spread
    from config import Config

type_option = click.option(
    "--type", "-t", "circuit", metavar="NAME", required=True, help="Circuit: configured or bundled."
)
inputs_option = click.option(
    "--inputs",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Witness (.wtns) or input signals (.json) in place of the circuit's.",
)
budget_option = click.option(
    "--budget", metavar="SIZE", help='Memory for everything, as "2GiB", or "auto" (default: the settings\').'
)


def iterations_option(default: int) -> Any:
    """How often."""
    return click.option(
        "--iterations",
        "-n",
        type=click.IntRange(1, MOST_PROOFS),
        default=default,
        show_default=True,
        help="How often; what one leaves is gone before the next.",
    )


def circuit_options(command: Any) -> Any:
    """A circuit, its inputs, threads, the settings, and how the result is printed."""
    options = (type_option, inputs_option, threads_option, config_option, json_option)
    return with_options(command, options)


@contextmanager
def measured(
    title: str, config: Config, plan: dict[str, Any], budget_bytes: int | None = None
) -> Iterator[MeasuredRun]:
    """Inside the block this process is measured, into a folder of the run's own."""
    from bench.measured import measured_run
    from bench.monitor import by_pid

    target = by_pid(os.getpid(), "this process")
    with measured_run(
        title, sys.argv, config, plan, say, target, budget_bytes=budget_bytes, interval_s=0.25
    ) as run:
        yield run


def show(run: MeasuredRun, result: Any, lines: list[str], as_json: bool) -> None:
    """Print a run's result, and keep it in its results and report."""
    from bench.run_folder import RESULTS

    run.results["result"] = asdict(result) if not isinstance(result, list) else [asdict(r) for r in result]
    run.facts += [line for line in lines if line.strip()]
    run.folder.note("\n".join(lines))
    if as_json:
        print(json.dumps(run.results["result"]))
    else:
        print("\n".join([*lines, f"results  {run.folder.path / RESULTS}"]))


def spread_lines(seconds: dict[str, Spread]) -> list[str]:
    """A line for each step."""
    longest = max(map(len, seconds))
    return [
        f"{name:<{longest}}  {each.p50_s:9.4f} s"
        + (f"   {each.least_s:.4f} to {each.most_s:.4f} s, of {each.count}" if each.count > 1 else "")
        for name, each in seconds.items()
    ]
