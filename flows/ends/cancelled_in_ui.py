"""Cancel and Suspend in Prefect's UI end the flow, also where no runner is there to send it a signal."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from prefect import get_client
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run

from engine.forced_end import end_unless_closed_soon
from flows.ends.signals import end_within_s

log = logging.getLogger("cuzk.flows")

LOOK_EVERY_S = 1.0
ANSWERED_WITHIN_S = 2.0
BY_SIGNAL = "stopped by a signal"


@dataclass
class Cancellation:
    """Why there was one. suspended: the flow run's state, where it is to go on later."""

    why: str = BY_SIGNAL
    suspended: State | None = None


@asynccontextmanager
async def cancelled_in_ui(part_of: UUID | None = None) -> AsyncIterator[Cancellation]:
    """Inside the block, the current task is cancelled once the flow run is, or is suspended, and the process
    ends soon.

    So it is once the flow run `part_of` has ended, in whatever way, or is suspended.
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


async def reason(cancellation: Cancellation, part_of: UUID | None = None) -> Cancellation:
    """The same with what the server says: a worker that is told of a cancel sends a signal at once."""
    if flow_run.id is None or cancellation.why != BY_SIGNAL:
        return cancellation
    try:
        async with asyncio.timeout(ANSWERED_WITHIN_S), get_client() as client:
            return await _cancellation(client, UUID(flow_run.id), part_of) or cancellation
    except Exception as error:
        log.debug("the flow run's state is not known: %s", error)
        return cancellation


async def _watch(
    run_id: UUID, part_of: UUID | None, task: "asyncio.Task[object]", cancellation: Cancellation
) -> None:
    await asyncio.sleep(LOOK_EVERY_S)  # first: to make a client takes time
    async with get_client() as client:
        while True:
            if found := await _found(client, run_id, part_of):
                break
            await asyncio.sleep(LOOK_EVERY_S)
    cancellation.why, cancellation.suspended = found.why, found.suspended
    if not task.cancelling():  # by a signal, which has come before
        task.cancel()
    end_unless_closed_soon(asyncio.get_running_loop(), end_within_s())


async def _found(client: PrefectClient, run_id: UUID, part_of: UUID | None) -> Cancellation | None:
    """As `_cancellation`; None, too, where the server is being started again: it is asked the next time."""
    try:
        return await _cancellation(client, run_id, part_of)
    except Exception as error:
        log.debug("the flow run's state is not known: %s", error)
        return None


async def _cancellation(client: PrefectClient, run_id: UUID, part_of: UUID | None) -> Cancellation | None:
    """Why it is to end; None where it is not."""
    state = (await client.read_flow_run(run_id)).state
    if state is not None and (state.is_cancelling() or state.is_cancelled()):
        return Cancellation("cancelled in the UI")
    if state is not None and state.is_paused():
        return Cancellation("suspended in the UI", state)
    whole = None if part_of is None else (await client.read_flow_run(part_of)).state
    if whole is not None and (whole.is_final() or whole.is_cancelling() or whole.is_paused()):
        return Cancellation(f"the run that it is part of is {whole.name}")
    return None
