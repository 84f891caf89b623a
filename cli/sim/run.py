"""`cuzk sim run`: what a batch would do on a modelled machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import INPUT_FILE, batch_options, program, say

if TYPE_CHECKING:
    from flows.batch import BatchParameters

_POLICY = "budget"


def _check_policy(_context: click.Context, _option: click.Parameter, policy: str) -> str:
    if policy != _POLICY:  # importing takes long, and the default is right
        from sim import fixed_at_once

        fixed_at_once(policy)
    return policy


@click.command(short_help="Simulate a batch and print the table of a real one.")
@batch_options
@click.option(
    "--policy",
    default=_POLICY,
    callback=_check_policy,
    show_default=True,
    metavar="POLICY",
    help='Admission: "budget", or "fixed:N".',
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the times drawn."
)
@click.option("--profile", type=INPUT_FILE, metavar="FILE", help="The modelled machine, as TOML.")
def run(parameters: BatchParameters, policy: str, seed: int, profile: Path | None) -> None:
    """Simulate the batch that `cuzk bench batch` with the same options would prove.

    Stage times are those of the circuit's runs in the history; of a circuit that was never proved
    here, rough ones by its size. The run is kept in the history beside the real ones. The policy
    "fixed:N" runs N partitions at a time, whatever they take, as provers without a budget do.
    """
    say(f"preparing to simulate {parameters.title}")
    from cli.table import print_run
    from config import load_config
    from db import open_history, show_run
    from engine.words import telling
    from flows.simulated_batch import SimulationParameters, simulate_batch

    run_id = simulate_batch(parameters, SimulationParameters(policy, profile, seed), say)
    config = load_config(parameters.config, warn=lambda _: None)
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        with telling(say, lambda: "making the table"):
            print_run(show_run(history, run_id))
        print(f"history  {history.address}; this run: {program()} history show {run_id}")
