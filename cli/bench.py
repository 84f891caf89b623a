"""`cuzk bench`: batches of proofs on this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cli.options import batch_options, program, real_batch_options, say

if TYPE_CHECKING:
    from flows.batch import BatchParameters


@click.group()
def bench() -> None:
    """Prove batches and measure them."""


@bench.command(short_help="Prove a batch as a Prefect flow.")
@batch_options
@real_batch_options
def batch(parameters: BatchParameters) -> None:
    """Prove COUNT proofs as the Prefect flow `prove_batch`, inside one memory budget.

    Uses the Prefect server that PREFECT_API_URL names; without one, starts a local server for the
    run and stops it after. Ends with a table of the proofs; status 1 if one of them failed. Ctrl-C ends
    it early, with the table of what there is.
    """
    from cli.table import print_run
    from config import load_config
    from db import HistoryError, open_history, show_run
    from engine.words import telling
    from flows.launch import run_batch
    from flows.summary import BatchFailed, BatchInterrupted

    interrupted = False
    config = load_config(parameters.config, warn=lambda _: None)
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        try:
            summary = run_batch(parameters, say)
        except BatchFailed as error:
            summary = error.summary
        except BatchInterrupted as error:
            summary, interrupted = error.summary, True
        try:
            with telling(say, lambda: "making the table"):
                print_run(show_run(history, summary.run_id))
        except HistoryError as error:  # the proofs are made all the same
            say(f"no table: {error}")
    print(f"proofs   {summary.output}")
    print(f"log      {summary.log}")
    print(f"history  {summary.history}; this run: {program()} history show {summary.run_id}")
    print(f"flow     {_how_to_see(summary.flow_run_url)}")
    if interrupted:
        raise KeyboardInterrupt
    sys.exit(1 if summary.failed else 0)


def _how_to_see(flow_run_url: str | None) -> str:
    """Where the run is in Prefect's UI: a local server has ended, unless `cuzk ui` made it stay."""
    from config import home
    from flows.server import named_server
    from flows.staying_server import staying_server

    if named_server() or staying_server(home()):
        return flow_run_url or "see the Prefect server's UI"
    return f"the DAG of this run: {program()} ui, then open the address that it prints"
