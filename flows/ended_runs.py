"""Tasks of runs that crashed: their process could tell nobody what became of them, so somebody else does."""

import asyncio
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

from flows.deployment_file import TAG
from flows.local_server import Say

LOOK_EVERY_S = 15.0
ENDED_FOR = timedelta(seconds=30)
"""What a task has told before its process died may be on its way for so long, see `flows.local_server`."""

CUT_OFF = [StateType.CRASHED, StateType.CANCELLED]
OPEN = [StateType.RUNNING, StateType.PENDING, StateType.SCHEDULED, StateType.PAUSED, StateType.CANCELLING]


async def close_tasks_for_ever(say: Say, tag: str = TAG) -> None:
    """Look every few seconds; a server that does not answer for a while is asked again."""
    while True:
        try:
            async with get_client() as client:
                if count := await close_tasks(client, tag=tag):
                    say(f"closed {count} tasks of runs that had crashed")
        except (HTTPError, PrefectHTTPStatusError):
            pass  # the worker beside it tells of that
        await asyncio.sleep(LOOK_EVERY_S)


async def close_tasks(client: PrefectClient, ended_for: timedelta = ENDED_FOR, tag: str = TAG) -> int:
    """Mark as crashed what is open of runs that crashed or were cancelled so long ago; returns how many."""
    runs = FlowRunFilter(
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=CUT_OFF)),
        end_time=FlowRunFilterEndTime.model_validate({"before_": now("UTC") - ended_for}),
        tags=FlowRunFilterTags(all_=[tag]),
    )
    tasks = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=OPEN)))
    closed: set[UUID] = set()
    while found := await client.read_task_runs(flow_run_filter=runs, task_run_filter=tasks):
        if closed.issuperset(task.id for task in found):
            break  # the server keeps them open; it will be asked again
        for task in found:
            end: State[None] = Crashed(message="its run ended without a word about it")
            await client.set_task_run_state(task.id, end, force=True)
            closed.add(task.id)
    return len(closed)
