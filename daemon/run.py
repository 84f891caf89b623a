"""A daemon's life: what it opens, in which order, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import engine
from config import Config, home
from daemon import notify, place
from daemon.address import Address, parse_address
from daemon.book import Book
from daemon.circuits import Circuits
from daemon.circuits_service import CircuitsService
from daemon.errors import DaemonError, NotNow
from daemon.http_status import serve_status
from daemon.kinds import check_kinds
from daemon.logs import leave_streams, run_log
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from daemon.public_service import PublicService
from daemon.reloading import reload_at
from daemon.security import check_listening
from daemon.server import serve
from daemon.signals import Signals
from daemon.status import Status
from daemon.stored import Stored
from daemon.version import PROTOCOL, code_version
from db import History, HistoryError, JobStore, new_id, open_history, time_may_heal
from db.process import host_name, this_process_started_at
from engine import Engine, EngineError, RunLabels
from engine.leftovers import clean_up
from engine.passing import io_may_pass

log = logging.getLogger("cuzk.daemon")

SAMPLE_EVERY_S = 1.0
PACK_EVERY_S = 300.0
LAST_ANSWERS_S = 2.0  # for clients to get what has ended, once all has
Say = Callable[[str], None]


@dataclass(frozen=True)
class Start:
    """What a daemon is started with; `load` reads the settings again.

    One with a folder of its own is of nobody's but who started it: what it has not ended, nobody takes over.
    """

    config: Config
    load: Callable[[], Config]
    say: Say
    warn: Say = lambda _: None
    folder: Path | None = None  # of its jobs, where it is not that of the host's daemon


@dataclass(frozen=True)
class Place:
    """Where this daemon lives: its run, its log, the folder of its jobs."""

    run_id: str
    log_path: Path
    folder: Path


def run(start: Start) -> None:
    """Be the daemon of this host until it is told to end.

    Raises NotNow where it cannot be for a reason that time may heal, and DaemonError, EngineError or
    HistoryError where it cannot be at all.
    """
    try:
        _run(start)
    except (DaemonError, EngineError, HistoryError, OSError) as error:
        if isinstance(error, NotNow) or not _time_may_heal(error):
            raise
        raise NotNow(str(error)) from error


def _time_may_heal(error: Exception) -> bool:
    return io_may_pass(error) or (isinstance(error, HistoryError) and time_may_heal(error))


def _run(start: Start) -> None:
    settings = start.config.daemon
    address = parse_address(settings.listen)
    check_listening(address, settings)
    if settings.status_listen:
        check_listening(parse_address(settings.status_listen), settings, "daemon.status_listen")
    check_kinds(settings.circuits)
    run_id = new_id()
    log_path = home() / "logs" / f"{run_id}.log"
    with ExitStack() as stack:
        folder = stack.enter_context(place.owned(start.folder))
        stack.enter_context(run_log(log_path, start.config.logging))
        stack.enter_context(_reasons_logged())
        asyncio.run(_live(start, address, Place(run_id, log_path, folder)))


async def _live(start: Start, address: Address, here: Place) -> None:
    signals = Signals(asyncio.get_running_loop())
    config = start.config
    async with AsyncExitStack() as stack:
        current, book, circuits = await stack.enter_async_context(_opened(config, here))
        status, about = Status(current, book), _about(here)
        public = PublicService(current, book, circuits)
        own = CircuitsService(current, book, circuits, status, about, signals.stop)
        server, listening = await serve(address, config.daemon, public, own)
        stack.push_async_callback(server.stop, LAST_ANSWERS_S)
        serving = serve_status(config.daemon, current, book, status)
        about.status_address = await stack.enter_async_context(serving)
        await _warn(start, circuits)
        await _tell(start, here, listening, about.status_address)
        beating = asyncio.create_task(_beat())
        stack.callback(beating.cancel)
        signals.on_reload(lambda: reload_at(start, current, book, circuits))
        await signals.stop.wait()
        log.info("ending: %d run, %d wait", book.shelf.count("running"), book.shelf.count("accepted"))
        notify.notify("STOPPING=1")
        if start.folder is not None:  # nobody takes its jobs over
            book.cancel_all()
        await _drain(book, config.daemon.drain, signals)
        if start.folder is not None:
            await book.shelf.forget_all()
    log.info("ended")


async def _warn(start: Start, circuits: Circuits) -> None:
    """Of what the settings name and is of no use: others are proved, so the daemon starts."""
    for line in await asyncio.to_thread(circuits.troubles):
        log.warning("%s", line)
        start.warn(f"cuzk daemon: {line}")


async def _tell(start: Start, here: Place, listening: Address, status_address: str) -> None:
    """Say where this daemon is: to who started it, to systemd, in its log and in its folder."""
    await asyncio.to_thread(
        place.write_pid_file,
        here.folder,
        listen=listening.text,
        status=status_address,
        run_id=here.run_id,
        log=str(here.log_path),
    )
    where = f"listening on {listening.text}" + (f", status on {status_address}" if status_address else "")
    log.info("%s; run %s, process %d", where, here.run_id, os.getpid())
    start.say(f"cuzk daemon: {where}; log {here.log_path}")
    leave_streams(here.log_path.with_suffix(".out"))
    notify.notify("READY=1\nSTATUS=" + where)


@asynccontextmanager
async def _opened(config: Config, here: Place) -> AsyncIterator[tuple[Engine, Book, Circuits]]:
    """The engine and what stands on it; closed in turn, whatever happens inside."""
    limits = engine.policy_limits(config)
    settings = config.daemon
    async with AsyncExitStack() as stack:
        opened = open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash)
        history = stack.enter_context(opened)
        writer = stack.enter_context(history.writer())
        await asyncio.to_thread(clean_up, config, history)
        store = Stored(JobStore(history, f"{host_name()}:{here.folder}"))
        stack.callback(store.close)
        ledger = engine.shared_ledger(config, f"daemon, run {here.run_id}", limits)
        labels = RunLabels("daemon", code_version(), output_path=str(here.folder))
        current = await stack.enter_async_context(
            Engine(
                config, limits, writer, here.run_id, labels, sample_interval_s=SAMPLE_EVERY_S, ledger=ledger
            )
        )
        circuits = Circuits(config, limits)
        book = Book(current, circuits, store, here.folder, settings.queue_limit, settings.keep_results)
        book.resume(await asyncio.to_thread(store.unfinished, here.folder))
        meanwhile = [
            asyncio.create_task(book.shelf.tidy_up()),
            asyncio.create_task(_pack(history, here.run_id)),
        ]
        try:
            yield current, book, circuits
        finally:
            for task in meanwhile:
                task.cancel()
            book.runs.draining = True


async def _drain(book: Book, within_s: float, signals: Signals) -> None:
    """End in good order, unless a second signal comes."""
    draining = asyncio.create_task(book.runs.drain(within_s))
    second = asyncio.create_task(signals.again.wait())
    await asyncio.wait((draining, second), return_when=asyncio.FIRST_COMPLETED)
    second.cancel()
    if not draining.done():
        log.warning("a second signal: ending at once; what runs is run again by the next daemon")
        draining.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await draining
        await book.runs.drain(0.0)


async def _pack(history: History, run_id: str) -> None:
    """From now on, keep the rows small that this run adds to the history: it may go on for months."""
    while True:
        await asyncio.sleep(PACK_EVERY_S)
        await asyncio.to_thread(history.pack_going_on, run_id)


async def _beat() -> None:
    """Tell systemd that this loop still turns, as often as it wants to know."""
    every_s = notify.watchdog_s()
    while every_s is not None:
        notify.notify("WATCHDOG=1")
        await asyncio.sleep(every_s)


def _about(here: Place) -> pb.GetVersionResponse:
    return pb.GetVersionResponse(
        version=code_version(),
        protocol=PROTOCOL,
        run_id=here.run_id,
        pid=os.getpid(),
        process_started_at_s=this_process_started_at().timestamp(),
        host=host_name(),
        log_path=str(here.log_path),
    )


@contextlib.contextmanager
def _reasons_logged() -> Iterator[None]:
    try:
        yield
    except (DaemonError, EngineError, HistoryError) as error:
        log.error("ended: %s", error)
        raise
    except Exception as error:
        log.error("ended: %s", error, exc_info=error)
        raise
