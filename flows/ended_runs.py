"""Tasks of runs that crashed: their process could tell nobody what became of them, so somebody else does."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from httpx import HTTPError
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import StateType
from prefect.exceptions import PrefectHTTPStatusError
from prefect.types._datetime import now

from flows.deployment_file import TAG
from flows.left_open import CUT_OFF, ENDED_FOR
from flows.local_server import Say
from flows.open_tasks import close_open_tasks

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
