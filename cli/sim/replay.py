"""`cuzk sim replay RUN`: a recorded run once more through the policy."""

from __future__ import annotations

from pathlib import Path

import click

from cli.history.options import opened, place_of
from cli.options import config_option


@click.command(short_help="Replay a recorded run, whose decisions must be the same.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@config_option
def replay(config_path: Path | None, runs: tuple[str, ...]) -> None:
    """Give the events of the runs RUN, real or simulated, to a fresh policy in simulated time.

    Ends with status 1 at the first decision that is not the recorded one.
    """
    from db import find_run
    from sim import read_recorded, replay_run

    with opened(place_of(config_path)) as history:
        for run in runs:
            recorded = read_recorded(history, find_run(history, run).id)
            difference = replay_run(recorded)
            if difference is not None:
                raise click.ClickException(f"run {recorded.run_id}: {difference}")
            decisions = sum(len(entry.decisions) for entry in recorded.log)
            print(f"{recorded.run_id}: {len(recorded.log)} events, {decisions} decisions, all as recorded")
