"""A cancel in Prefect's UI ends the flow, also where no runner is there to send it a signal."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from prefect import get_client
from prefect.client.orchestration import PrefectClient
from prefect.runtime import flow_run

from engine.forced_end import end_unless_closed_soon

log = logging.getLogger("cuzk.flows")

LOOK_EVERY_S = 1.0


@dataclass
class Cancellation:
    """Why there was one."""

    why: str = "stopped by a signal"


@asynccontextmanager
async def cancelled_in_ui(part_of: UUID | None = None) -> AsyncIterator[Cancellation]:
    """Inside the block, the current task is cancelled once the flow run is, and the process ends soon.

    So it is once the flow run `part_of` has ended, in whatever way.
    """
    task, run_id, cancellation = asyncio.current_task(), flow_run.id, Cancellation()
    if task is None or run_id is None:
        yield cancellation
        return
    watcher = asyncio.create_task(_watch(UUID(run_id), part_of, task, cancellation))
    try:
        yield cancellation
    finally:
        watcher.cancel()


async def _watch(
    run_id: UUID, part_of: UUID | None, task: "asyncio.Task[object]", cancellation: Cancellation
) -> None:
    async with get_client() as client:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                why = await _why(client, run_id, part_of)
            except Exception as error:  # a server that is started again is asked the next time
                log.debug("the flow run's state is not known: %s", error)
                continue
            if why is not None:
                cancellation.why = why
                task.cancel()
                end_unless_closed_soon(asyncio.get_running_loop())
                return


async def _why(client: PrefectClient, run_id: UUID, part_of: UUID | None) -> str | None:
    """Why it is to end; None where it is not."""
    state = (await client.read_flow_run(run_id)).state
    if state is not None and (state.is_cancelling() or state.is_cancelled()):
        return "cancelled in the UI"
    whole = None if part_of is None else (await client.read_flow_run(part_of)).state
    if whole is not None and (whole.is_final() or whole.is_cancelling()):
        return f"the run that it is part of is {whole.name}"
    return None
