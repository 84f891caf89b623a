"""`cuzk bench batch`: a batch of proofs, by this process or by a daemon."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cli.bench.daemon_options import (
    DAEMON_ONLY,
    Where,
    as_public_program,
    daemon_options,
    public_of,
    was_left_out,
)
from cli.bench.driven import driven
from cli.options import batch_options, program, real_batch_options, say

if TYPE_CHECKING:
    from db import History
    from flows.parameters.batch import BatchParameters


@click.command(short_help="Prove a batch, as a Prefect flow or by a daemon.")
@batch_options
@real_batch_options
@daemon_options
def batch(parameters: BatchParameters, where: Where, **options: Any) -> None:
    """Prove COUNT proofs, inside one memory budget.

    Without --addr and --spawn: as the Prefect flow `prove_batch`, in this process. Uses the Prefect server
    that PREFECT_API_URL names, else that of `cuzk ui`, else one that it starts for the run and stops after.
    Ends with a table of the proofs; status 1 if one of them failed. Ctrl-C ends it early, with the table of
    what there is, and how to go on.

    By a daemon: into a run's folder with a report. --type may be a kind of proof of the public protocol,
    too: porep, snap, wpost, winning. Status 1 if a proof failed, 3 if --timeout was too short; Ctrl-C
    cancels what was submitted.
    """
    if where.is_given:
        _by_daemon(parameters, where, options)
    else:
        _refuse_of_daemons(parameters.engine)
        _in_process(parameters)


def _by_daemon(parameters: BatchParameters, where: Where, options: dict[str, Any]) -> None:
    from bench.asked import asked
    from bench.driving import drive
    from bench.works import one_after_another
    from flows.parameters.inputs import input_files

    _refuse_of_processes(parameters)
    public = public_of(options)
    circuit, priority, partitions = parameters.circuit, parameters.priority or "", parameters.partitions or 0
    files = input_files(parameters.inputs) or [None]
    asks = [asked(circuit, each, public, priority=priority, partitions=partitions) for each in files]
    concurrency = 1 if as_public_program() and was_left_out("concurrency") else parameters.concurrency
    work = one_after_another(asks, parameters.count, concurrency, parameters.on_failure == "stop")
    plan = {"command": "batch", "circuit": circuit, "count": parameters.count, "concurrency": concurrency}
    where = replace(where, config_path=parameters.config)
    finished = driven(
        where,
        parameters.budget,
        lambda session: drive(
            session, parameters.title, asks, parameters.count, min(concurrency, parameters.count), plan, work
        ),
    )
    sys.exit(0 if finished.summary.succeeded == finished.summary.asked else 1)


def _refuse_of_processes(parameters: BatchParameters) -> None:
    """A daemon's own settings say what these would."""
    given = {
        "--engine": bool(parameters.engine),
        "--resume": parameters.resume is not None,
        "--mode": parameters.mode != "real",
        "--device": parameters.device is not None,
        "--output": parameters.output is not None,
        "--due": parameters.due is not None,
    }
    for option in (name for name, is_given in given.items() if is_given):
        raise click.UsageError(
            f"{option} is for a batch in this process; leave it out, or --addr and --spawn"
        )


def _refuse_of_daemons(engine: str) -> None:
    """Only a daemon would know what to do with these; how a flow comes to one, its settings say."""
    for name, flag in DAEMON_ONLY.items():
        if was_left_out(name):
            continue
        if engine and name in ("token_file", "ca", "cert", "key"):
            raise click.UsageError(
                f"{flag}: with --engine, which may run on another host, the settings say it: write {name} "
                "into [client] there, and leave the option out"
            )
        raise click.UsageError(
            f"{flag} is for a batch by a daemon; add --addr ADDRESS or --spawn, or leave it out"
        )


def _in_process(parameters: BatchParameters) -> None:
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
        if parameters.mode == "real":  # a simulated one is simulated anew
            print(f"the rest {program()} bench batch --resume {summary.run_id}")
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
    from flows.server.chosen import named_server
    from flows.server.staying import staying_server

    if named_server() or staying_server(home()):
        return flow_run_url or "see the Prefect server's UI"
    return f"the DAG of this run: {program()} ui, then open the address that it prints"
