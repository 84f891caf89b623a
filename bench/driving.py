"""A run against a daemon: checked, measured, watched and recorded, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.asked import Asked
from bench.checks import Checked, check
from bench.diagnosis import diagnosis
from bench.errors import BenchError
from bench.finishing import Finished, compared, conclude, finished_run
from bench.jobs import Clock, Jobs
from bench.measured import MeasuredRun, measured_run
from bench.monitor import Target, by_address
from bench.outcome import Outcome
from bench.record import Record
from bench.watching import Watching
from bench.works import Work
from config import Config
from daemon.client import Client, connect
from db import History, circuits_proved, find_run, open_history
from plots import Bar

RESOURCES = {"load": "disk", "synthesize": "synthesis", "prove": "prove", "verify": "verify"}


class TimeIsOver(BenchError):  # noqa: N818 — says it all
    """The run's time was over before its proofs were there; what was known then has been told."""


@dataclass(frozen=True)
class Session:
    """How a run is made. `connect`: for `daemon.client.connect`; `vs`: a run of the history, or empty.

    show: a line to a person. show_progress: a line that takes the place of the one before.
    """

    address: str
    config: Config
    command: Sequence[str]
    show: Callable[[str], None]
    show_progress: Callable[[str], None]
    connect: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float | None = None
    silence_s: float = 30.0
    interval_s: float = 1.0
    vs: str = ""


async def drive(
    session: Session,
    title: str,
    asks: Sequence[Asked],
    wanted: int | None,
    at_once: int,
    plan: Mapping[str, Any],
    work: Work,
) -> Finished:
    """Check, then let `work` prove. `wanted`: how many proofs; None: as many as come.

    Raises BenchError and DaemonError, one line, for what cannot begin; TimeIsOver where the time was too
    short, after a diagnosis. Whatever ends it, what it has submitted is cancelled.
    """
    config = session.config
    opened = open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash)
    with opened as history:
        before = _comparable(history, session.vs, asks) if session.vs else ""
        async with connect(session.address, **session.connect) as client:
            checked = await check(client, asks, at_once)
            for line in checked.lines:
                session.show(line)
            return await _run(session, title, client, checked, history, before, wanted, plan, work)


def _comparable(history: History, vs: str, asks: Sequence[Asked]) -> str:
    """The id of the run that `vs` means. Raises BenchError where it proved nothing of what is asked now."""
    run_id, wanted = find_run(history, vs).id, {each.circuit for each in asks}
    proved = circuits_proved(history, run_id)
    if not proved & wanted:
        others = f"only of {', '.join(sorted(proved))}" if proved else "of no circuit"
        raise BenchError(
            f"--vs {vs}: proofs succeeded in it {others}, none of {', '.join(sorted(wanted))}; name a run of "
            "the same circuit"
        )
    return run_id


async def _run(
    session: Session,
    title: str,
    client: Client,
    checked: Checked,
    history: History,
    before: str,
    wanted: int | None,
    plan: Mapping[str, Any],
    work: Work,
) -> Finished:
    target, why_not = _target(session.address, client)
    about = dict(plan) | {"checked": checked.lines, "address": session.address}
    with (
        measured_run(
            title,
            session.command,
            session.config,
            about,
            session.show,
            target,
            budget_bytes=checked.budget_bytes,
            interval_s=session.interval_s,
        ) as run,
        history.writer() as writer,
    ):
        record = Record(writer, run.folder.run_id)
        record.started(title, session.config, checked.budget_bytes, wanted, run.folder.path)
        if why_not:
            run.say(f"memory is as the daemon tells it: {why_not}")
        jobs = Jobs(client, run.folder.run_id, Clock(), run.say)
        watching = Watching(client, run, jobs, wanted, session.show_progress, session.silence_s)
        run.reserved_bytes = lambda: watching.reserved_bytes
        run.also = record.sample
        with _ended(run, record):
            try:
                await _watched(session, run, jobs, watching, record, work)
            finally:
                run.stack.close()  # the last sample, while it can be recorded
        writer.flush()
        finished = finished_run(run, watching)
        if not before:
            return finished
        return compared(finished, history, before, run)


async def _watched(
    session: Session,
    run: MeasuredRun,
    jobs: Jobs,
    watching: Watching,
    record: Record,
    work: Work,
) -> None:
    async def prove(asked: Asked, number: int) -> Outcome:
        outcome = await jobs.prove(asked, number)
        _note(run, record, watching, outcome)
        return outcome

    beside = asyncio.create_task(watching.forever())
    whole = False
    try:
        async with asyncio.timeout(session.timeout_s):
            await work(prove, run)
        whole = True
    except TimeoutError as error:
        assert session.timeout_s is not None, "or none would be raised"
        lines = await diagnosis(watching, session.timeout_s)
        for line in lines:
            run.say(line)
        run.folder.write("diagnosis.txt", "\n".join(lines) + "\n")
        raise TimeIsOver(lines[0]) from error
    finally:
        left = list(jobs.open.values())
        await jobs.cancel_all()
        for outcome in left:
            _note(run, record, watching, outcome)
        beside.cancel()
        await asyncio.wait([beside])
        session.show_progress("")
        conclude(run, watching)
        if not whole and watching.outcomes:  # nobody else tells of what there is
            for line in finished_run(run, watching).summary.lines():
                run.say(line)


def _note(run: MeasuredRun, record: Record, watching: Watching, outcome: Outcome) -> None:
    watching.outcomes.append(outcome)
    record.proof(outcome)
    run.bars += [
        Bar(RESOURCES[span.stage], outcome.circuit, span.started_s, span.ended_s)
        for span in outcome.spans
        if span.ended_s is not None and span.ended_s > span.started_s
    ]
    why = f": {outcome.error}" if outcome.error else ""
    run.folder.note(f"{outcome.name} {outcome.state} after {outcome.seconds:.3f} s{why}")


@contextmanager
def _ended(run: MeasuredRun, record: Record) -> Iterator[None]:
    """The run's end in the history, whatever it is."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        record.ended("cancelled", "stopped by a signal")
        raise
    except Exception as error:
        record.ended("failed", str(error))
        raise
    failed = run.results.get("proofs_failed", 0)
    run.results["state"] = "failed" if failed else "succeeded"
    record.ended("failed" if failed else "succeeded", f"{failed} proofs failed" if failed else None)


def _target(address: str, client: Client) -> tuple[Target | None, str]:
    """The daemon's process, or why it is not seen from here."""
    try:
        target = by_address(address)
    except BenchError as error:
        return None, str(error)
    if client.version is not None and target.pid != client.version.pid:
        return None, f"process {target.pid} {target.found_by}, but the daemon is process {client.version.pid}"
    return target, ""
