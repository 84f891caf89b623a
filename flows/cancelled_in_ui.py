"""A cancel in Prefect's UI ends the flow, also where no runner is there to send it a signal."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from prefect import get_client
from prefect.runtime import flow_run

from engine.forced_end import end_unless_closed_soon

log = logging.getLogger("cuzk.flows")

LOOK_EVERY_S = 1.0


@dataclass
class Cancellation:
    """Whether the UI has asked for one."""

    asked: bool = False


@asynccontextmanager
async def cancelled_in_ui() -> AsyncIterator[Cancellation]:
    """Inside the block, the current task is cancelled once the flow run is, and the process ends soon."""
    task, run_id, cancellation = asyncio.current_task(), flow_run.id, Cancellation()
    if task is None or run_id is None:
        yield cancellation
        return
    watcher = asyncio.create_task(_watch(run_id, task, cancellation))
    try:
        yield cancellation
    finally:
        watcher.cancel()


async def _watch(run_id: str, task: "asyncio.Task[object]", cancellation: Cancellation) -> None:
    async with get_client() as client:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                state = (await client.read_flow_run(UUID(run_id))).state
            except Exception as error:  # a server that is started again is asked the next time
                log.debug("the flow run's state is not known: %s", error)
                continue
            if state is not None and (state.is_cancelling() or state.is_cancelled()):
                cancellation.asked = True
                task.cancel()
                end_unless_closed_soon(asyncio.get_running_loop())
                return
