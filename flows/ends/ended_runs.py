"""Tasks of runs that crashed: their process could tell nobody what became of them, so somebody else does."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from httpx import HTTPError
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.exceptions import PrefectHTTPStatusError
from prefect.states import Crashed
from prefect.types._datetime import now

from flows.deployments.file import TAG
from flows.ends.left_open import CUT_OFF, ENDED_FOR, OPEN
from flows.server.local import Say

LOOK_EVERY_S = 15.0


async def close_tasks_for_ever(say: Say, tag: str = TAG) -> None:
    """Look every few seconds; a server that does not answer for a while is asked again."""
    while True:
        with suppress(HTTPError, PrefectHTTPStatusError):  # the worker beside it tells of that
            await close_once(say, tag=tag)
        await asyncio.sleep(LOOK_EVERY_S)


async def close_once(say: Say, ended_for: timedelta = ENDED_FOR, tag: str = TAG) -> None:
    """Close them and say so. Raises httpx's and Prefect's errors where the server does not answer well."""
    async with get_client() as client:
        if count := await close_tasks(client, ended_for, tag):
            say(f"closed {count} tasks of runs that had crashed")


async def close_tasks(client: PrefectClient, ended_for: timedelta = ENDED_FOR, tag: str = TAG) -> int:
    """Mark as crashed what is open of runs that crashed or were cancelled so long ago; returns how many."""
    runs = FlowRunFilter(
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType(each) for each in CUT_OFF])),
        end_time=FlowRunFilterEndTime.model_validate({"before_": now("UTC") - ended_for}),
        tags=FlowRunFilterTags(all_=[tag]),
    )
    return await close_open_tasks(client, runs)


async def close_open_tasks(client: PrefectClient, runs: FlowRunFilter) -> int:
    """Mark as crashed what is open of these flow runs; returns how many. The server gives them page by page.

    Raises httpx's and Prefect's errors for a server that does not answer, or not well.
    """
    still_open = TaskRunFilter(
        state=TaskRunFilterState(type=TaskRunFilterStateType(any_=[StateType(each) for each in OPEN]))
    )
    closed: set[UUID] = set()
    while True:
        found = await client.read_task_runs(flow_run_filter=runs, task_run_filter=still_open)
        left = [task.id for task in found if task.id not in closed]
        if not left:  # none, or the server keeps them open
            return len(closed)
        for task_id in left:
            end: State[None] = Crashed(message="its process has died")
            await client.set_task_run_state(task_id, end, force=True)
            closed.add(task_id)
