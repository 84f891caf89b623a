"""`cuzk bench batch`: a batch of proofs on this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cli.options import batch_options, program, real_batch_options, say

if TYPE_CHECKING:
    from db import History
    from flows.batch import BatchParameters


@click.command(short_help="Prove a batch as a Prefect flow.")
@batch_options
@real_batch_options
def batch(parameters: BatchParameters) -> None:
    """Prove COUNT proofs as the Prefect flow `prove_batch`, inside one memory budget.

    Uses the Prefect server that PREFECT_API_URL names; without one, starts a local server for the
    run and stops it after. Ends with a table of the proofs; status 1 if one of them failed. Ctrl-C ends
    it early, with the table of what there is.
    """
    from config import load_config
    from db import open_history
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
        in_database = _print_table(history, summary.run_id)
    print(f"proofs   {summary.output}")
    if summary.log is not None:
        print(f"log      {summary.log}")
    when = "this run" if in_database else f"once the records in {history.spool} are in it, this run"
    print(f"history  {summary.history}; {when}: {program()} history show {summary.run_id}")
    print(f"flow     {_how_to_see(summary.flow_run_url)}")
    if interrupted:
        raise KeyboardInterrupt
    sys.exit(1 if summary.failed else 0)


def _print_table(history: History, run_id: str) -> bool:
    """The proofs are made whatever the history says: whether the run is in its database."""
    from cli.table import print_run
    from db import HistoryError, show_run, spooled_run
    from engine.words import telling

    with telling(say, lambda: "making the table"):
        try:
            print_run(show_run(history, run_id))
        except HistoryError as error:
            try:
                print_run(spooled_run(history, run_id))
            except HistoryError:
                say(f"no table: {error}")
            return not history.spool.exists()
    return True


def _how_to_see(flow_run_url: str | None) -> str:
    """Where the run is in Prefect's UI: a local server has ended, unless `cuzk ui` made it stay."""
    from config import home
    from flows.server import named_server
    from flows.staying_server import staying_server

    if named_server() or staying_server(home()):
        return flow_run_url or "see the Prefect server's UI"
    return f"the DAG of this run: {program()} ui, then open the address that it prints"
