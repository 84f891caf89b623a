"""A batch in an engine of this process: opened, proved, and closed again."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from prefect import get_run_logger
from prefect.runtime import flow_run

import engine
from config import Config, home
from daemon.client import connect
from db import History, HistoryWriter, new_id, open_history
from engine import CircuitSpec, Engine, RunLabels
from engine.leftovers import clean_up
from engine.outputs import usual_folder
from flows.display.artifacts import MOST_ROWS, ProgressBar, show_end
from flows.display.followers import Followers
from flows.display.late import marked_when_late
from flows.display.logs import engine_log_in_ui, run_log
from flows.display.pace import Pace, usual_proof_s
from flows.display.progress import Progress, tell, teller
from flows.display.shape import Shape, Shown
from flows.display.shown import BEHIND, shown
from flows.ends.closing import close_dead
from flows.parameters.batch import BatchParameters, batch_config
from flows.parameters.requests import Requests
from flows.parameters.resume import keep
from flows.proving.again import taken_up_here
from flows.proving.batch import Batch
from flows.proving.daemon_circuit import on_daemon
from flows.proving.daemon_engine import DaemonEngine
from flows.proving.daemon_record import DaemonRecord
from flows.summary import BatchCancelled, BatchSummary, Proofs, ProofSummary, begun
from flows.version import code_version
from policy import Limits
from tasks.source import source


@dataclass(frozen=True)
class Opened:
    """What a batch needs before it can begin."""

    config: Config
    limits: Limits
    circuit: CircuitSpec
    parameters: BatchParameters

    host: str = ""  # where it is one of several

    @property
    def title(self) -> str:
        """What its run is called in the history."""
        return " · ".join(filter(None, (self.parameters.title, self.host)))

    @property
    def partitions(self) -> int:
        """Of each proof."""
        return self.parameters.partitions or self.circuit.partitions

    def shape(self, requests: Requests) -> Shape:
        """For those who show it."""
        each = self.parameters.tasks == "each"
        count, partitions = self.parameters.count, self.partitions
        return Shape(self.circuit.name, count, partitions, lambda index: requests[index].name, each)


async def prove_for_real(parameters: BatchParameters) -> BatchSummary:
    """Prove the batch, or what is left of the one it resumes, and show it in the flow run of the call."""
    parameters = await taken_up_here(parameters)
    opened = await open_batch(parameters)
    run_id = new_id()
    output = (parameters.output or usual_folder(run_id)).absolute()
    requests = Requests(parameters, opened.circuit, output)
    found = await finished(parameters, opened.circuit.zkey, requests, opened.partitions)
    keep(parameters, output)
    return await prove_opened(opened, run_id, output, requests, found)


async def prove_opened(
    opened: Opened,
    run_id: str,
    output: Path,
    requests: Requests,
    found: set[int],
    also_told: Callable[[Shown], Shown] = lambda display: display,
) -> BatchSummary:
    """Prove the requests but those that were found, and keep the run in the history under `run_id`.

    also_told: adds to what is told of each proof.
    """
    with _history(opened.config) as (history, writer), _logs(opened.config, run_id) as log:
        clean_up(opened.config, history)
        closing = asyncio.create_task(close_dead(history))
        summary = BatchSummary(
            run_id, history.address, output, log, flow_run.ui_url, opened.parameters.count, len(found)
        )
        device = opened.limits.devices[0].name
        pace = Pace(await asyncio.to_thread(usual_proof_s, history, opened.circuit.name, device))

        def display(current: Engine | DaemonEngine, followers: Followers) -> Shown:
            return also_told(shown(current, opened.shape(requests), followers, pace))

        async with ProgressBar() as bar:
            proofs = await _prove(opened, summary, requests, found, writer, display, bar)
            if lost := writer.close():
                tell(str(lost))
            summary = replace(summary, proofs=Proofs(proofs))
            await show_end(history, summary)
        await closing
    return summary


async def open_batch(parameters: BatchParameters) -> Opened:
    """Everything that takes a while and can be refused."""
    config = batch_config(parameters, get_run_logger().warning)
    if parameters.engine:
        return Opened(config, *await on_daemon(parameters, config), parameters)
    limits = engine.policy_limits(config)
    circuit = engine.resolve(parameters.circuit, config)
    say = teller()
    await asyncio.to_thread(engine.prepare, circuit, say)
    await asyncio.to_thread(engine.compile_for_proofs, config, circuit.zkey, say)
    proofs = parameters.count * (parameters.partitions or circuit.partitions)
    circuit = await asyncio.to_thread(engine.with_table, circuit, proofs, config, limits)
    return Opened(config, limits, circuit, parameters)


async def finished(parameters: BatchParameters, zkey: Path, requests: Requests, partitions: int) -> set[int]:
    """The proofs that are there of the batch that is resumed."""
    if parameters.resume is None:
        return set()
    from engine.finished import finished_proofs

    say = teller()

    def checked(count: int) -> None:
        say(f"looked for {count} of {parameters.count} proofs of run {parameters.resume}")

    found = await asyncio.to_thread(finished_proofs, zkey, requests.folders(), partitions, checked)
    say(f"{len(found)} of {parameters.count} proofs are there and valid")
    return found


@contextmanager
def _history(config: Config) -> Iterator[tuple[History, HistoryWriter]]:
    opened = open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash)
    with opened as history, history.writer() as writer:
        yield history, writer


@contextmanager
def _logs(config: Config, run_id: str) -> Iterator[Path]:
    with (
        run_log(home() / "logs" / f"{run_id}.log", config.logging) as log,
        engine_log_in_ui(flow_run.id),
    ):
        yield log


async def _prove(
    opened: Opened,
    summary: BatchSummary,
    requests: Requests,
    found: set[int],
    writer: HistoryWriter,
    shown_by: Callable[[Engine | DaemonEngine, Followers], Shown],
    bar: ProgressBar,
) -> list[ProofSummary]:
    parameters, count = opened.parameters, opened.parameters.count
    batch: Batch | None = None
    try:
        async with _running(opened, summary, writer) as (current, followers):
            if told := begun.get():
                told(summary)
            display = shown_by(current, followers)
            progress = Progress(count, len(found), len(found), bar=bar, in_log=count <= MOST_ROWS)
            batch = Batch(current, requests, display, progress, parameters.on_failure == "stop")
            async with progress.words(), marked_when_late(requests.due, progress.word):
                for index in found:
                    display.found(index)
                left = (index for index in range(count) if index not in found)
                return await batch.prove(left, parameters.concurrency)
    except asyncio.CancelledError as error:
        so_far = await batch.so_far() if batch else []
        raise BatchCancelled(replace(summary, proofs=Proofs(so_far))) from error


@asynccontextmanager
async def _running(
    opened: Opened, summary: BatchSummary, writer: HistoryWriter
) -> AsyncIterator[tuple[Engine | DaemonEngine, Followers]]:
    """The engine, and who shows its proofs: for as long as that takes after the engine has been left."""
    parameters = opened.parameters
    labels = RunLabels(
        opened.title, code_version(), flow_run.id, str(summary.output), summary.count - summary.found
    )
    async with Followers(parameters.concurrency + BEHIND) as followers:
        async with _engine(opened, summary.run_id, writer, labels) as current:
            token = source.set(current)
            yield current, followers
        source.reset(token)


@asynccontextmanager
async def _engine(
    opened: Opened, run_id: str, writer: HistoryWriter, labels: RunLabels
) -> AsyncIterator[Engine | DaemonEngine]:
    """That of this process, or the one of the daemon that the batch names."""
    parameters, config, limits = opened.parameters, opened.config, opened.limits
    if not parameters.engine:
        ledger = engine.shared_ledger(config, f"{opened.title}, run {run_id}", limits)
        async with Engine(config, limits, writer, run_id, labels, ledger=ledger) as current:
            yield current
        return
    async with connect(parameters.engine, **dict(config.client)) as client:
        record = DaemonRecord(writer, run_id, labels, config, limits)
        async with DaemonEngine(client, record, opened.circuit.partitions) as remote:
            yield remote
