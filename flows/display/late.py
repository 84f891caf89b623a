"""A batch past its due time: said in its log when that comes, and marked where runs are listed."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

from prefect import get_client, get_run_logger
from prefect.runtime import flow_run

log = logging.getLogger("cuzk.flows")

TAG = "late"


@asynccontextmanager
async def marked_when_late(due: datetime | None, how_far: Callable[[], str]) -> AsyncIterator[None]:
    """Inside the block, a batch that is not done at its due time is marked so. `how_far` tells it is."""
    watcher = None if due is None else asyncio.create_task(_watch(due, how_far))
    try:
        yield
    finally:
        if watcher is not None:
            watcher.cancel()
            await asyncio.wait([watcher])


async def _watch(due: datetime, how_far: Callable[[], str]) -> None:
    await asyncio.sleep((due - datetime.now(UTC)).total_seconds())
    get_run_logger().warning("late: it was due at %s, and %s", due.strftime("%Y-%m-%d %H:%M UTC"), how_far())
    if flow_run.id is None:
        return
    try:
        async with get_client() as client:
            run = await client.read_flow_run(UUID(flow_run.id))
            await client.update_flow_run(run.id, tags={*run.tags, TAG})
    except Exception as error:  # proofs are made all the same
        log.warning("the run could not be marked as late: %s", error)


def late_s(due: datetime | None) -> float:
    """For how long it has been past its due time; 0 before, and where there is none."""
    return 0.0 if due is None else max(0.0, (datetime.now(UTC) - due).total_seconds())
