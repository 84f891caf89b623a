"""What runs the deployments on this host: a Prefect worker of the type "process" that serves two queues.

Each run is a process of its own, so its memory goes back when it ends, however it ends; the runs of a host
share its memory budget through the ledger.
"""

import asyncio
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from httpx import HTTPError
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.utilities.processutils import command_to_string
from prefect.workers.process import ProcessJobConfiguration, ProcessWorker
from typing_extensions import override

from flows.deployments.deploy import deploy
from flows.deployments.file import DeploymentEntry
from flows.deployments.own_ends import has_ended_since, respect_own_ends
from flows.ends.ended_runs import close_tasks_for_ever
from flows.ends.signals import cancelled_by_signals
from flows.errors import FlowError
from flows.server.local import Say

COMMON_QUEUE = "default"
PROCESS = "flows.deployments.flow_process"
RUNS_ENDED_WITHIN_S = 30.0
TOLD_WITHIN_S = 10.0
ENDED_WITHIN_S = 45.0
"""After a signal to stop, the runs' processes, and then this one."""


class HostConfiguration(ProcessJobConfiguration):
    """A run's process is this Python, in the folder that the worker was started in.

    Prefect would make an environment for each run, which takes seconds, and a folder that is deleted after
    it, with every file that a relative path led there.
    """

    @override
    def prepare_for_flow_run(self, *arguments: Any, **options: Any) -> None:
        self.command = self.command or command_to_string([sys.executable, "-m", PROCESS])
        super().prepare_for_flow_run(*arguments, **options)
        self.working_dir = self.working_dir or Path.cwd()


class HostWorker(ProcessWorker):
    """Runs what is due on this host, until it is to stop."""

    job_configuration = HostConfiguration
    stopping = False

    @classmethod
    @override
    def __dispatch_key__(cls) -> str:
        """Its name among the workers that Prefect knows; its pools are those of the type "process"."""
        return "cuzk-host"

    @override
    async def get_and_submit_flow_runs(self) -> list[FlowRun]:
        return [] if self.stopping else await super().get_and_submit_flow_runs()

    @override
    async def _propose_crashed_state(
        self, flow_run: FlowRun, message: str, client: PrefectClient | None = None
    ) -> None:
        """Not of a run whose end is known, as in `own_ends`."""
        if not await has_ended_since(client or self.client, flow_run):
            await super()._propose_crashed_state(flow_run, message, client)

    async def stop_runs(self) -> None:
        """Take no more runs, tell those under way to stop, and wait until they have said how they ended.

        Prefect's worker would kill them when it is stopped, and their last states would stay "Running".
        """
        self.stopping = True
        processes = {each: run_id for each in psutil.Process().children() if (run_id := _run_of(each))}
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        await asyncio.to_thread(_wait_ended, list(processes))
        with suppress(TimeoutError, HTTPError):
            async with asyncio.timeout(TOLD_WITHIN_S):
                await asyncio.gather(*(self._wait_told(run_id) for run_id in processes.values()))

    async def _wait_told(self, run_id: UUID) -> None:
        """Of a process that ended without a word the worker tells the server, if it is left the time."""
        while True:
            state = (await self.client.read_flow_run(run_id)).state
            if state is not None and state.is_final():
                return
            await asyncio.sleep(0.2)


def _wait_ended(processes: list[psutil.Process]) -> None:
    """Not by waiting for them as children, which the event loop does."""
    deadline_s = time.monotonic() + RUNS_ENDED_WITHIN_S
    while any(map(_is_alive, processes)) and time.monotonic() < deadline_s:
        time.sleep(0.1)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _run_of(process: psutil.Process) -> UUID | None:
    """The flow run that the process is for."""
    try:
        run_id = process.environ().get("PREFECT__FLOW_RUN_ID")
    except psutil.Error:
        return None
    return UUID(run_id) if run_id else None


async def serve(entries: list[DeploymentEntry], queue: str, limit: int | None, say: Say) -> None:
    """Run what is due in the pool's common queue and in this host's own, until SIGINT or SIGTERM.

    Makes the deployments first if the server does not have their pool yet. Runs that are under way at the
    signal are told to stop, free what they hold and end as cancelled. Raises FlowError.
    """
    pool = entries[0].work_pool.name
    try:
        async with get_client() as client:
            if not await _has_pool(client, pool):
                await deploy(entries, say)
            await _make_queue(client, pool, queue)
    except HTTPError as error:
        raise FlowError(f"the Prefect server refuses or does not answer: {error}") from error
    respect_own_ends()
    worker = HostWorker(pool, work_queues=[COMMON_QUEUE, queue], name=f"{queue}-{os.getpid()}", limit=limit)
    serving = asyncio.create_task(worker.start(printer=lambda _: None))
    closing = asyncio.create_task(close_tasks_for_ever(say))
    try:
        with cancelled_by_signals(ENDED_WITHIN_S):
            say(f"serving the queues {COMMON_QUEUE} and {queue} of the pool {pool}; Ctrl-C ends it")
            await asyncio.shield(serving)
    except asyncio.CancelledError:
        if task := asyncio.current_task():
            task.uncancel()
        say("stopping; runs under way are told to end")
        await worker.stop_runs()
    finally:
        serving.cancel()
        closing.cancel()
        await asyncio.gather(serving, closing, return_exceptions=True)


async def _has_pool(client: PrefectClient, pool: str) -> bool:
    try:
        await client.read_work_pool(pool)
    except ObjectNotFound:
        return False
    return True


async def _make_queue(client: PrefectClient, pool: str, queue: str) -> None:
    try:
        await client.read_work_queue_by_name(queue, work_pool_name=pool)
    except ObjectNotFound:
        await client.create_work_queue(queue, work_pool_name=pool)
