"""What a flow leaves open that has died: its run in the history, and its tasks on the server."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from prefect import Flow, State, get_client
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.states import Crashed

from config import load_config
from db import Filter, History, Run, list_runs, open_history
from flows.ends.ended_runs import close_once, close_open_tasks
from tasks.follow import started

log = logging.getLogger("cuzk.flows")

OPEN = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
STARTED = [StateType.PENDING, StateType.RUNNING]
NEWEST = 50  # runs that are looked at
RECORDED_WITHIN_S = 3.0  # what a process sent before it died is in the server's database then


async def close_run(flow: Flow[..., Any], flow_run: FlowRun, state: State) -> None:  # noqa: ARG001
    """Hook for a flow that was cancelled or has crashed: close its run in the history, and its tasks."""
    given = (flow_run.parameters or {}).get("parameters") or {}
    path = given.get("config") if isinstance(given, dict) else getattr(given, "config", None)
    config = load_config(path, lambda _: None)
    with open_history(config.history_url(), spool=config.history_spool()):
        pass  # opening it closes the runs whose process has died
    if str(flow_run.id) not in started:  # its process is another, and has ended
        await asyncio.sleep(RECORDED_WITHIN_S)
        async with get_client() as client:
            await close_open_tasks(client, _those([flow_run.id]))


async def close_dead(history: History) -> None:
    """Close on the server what runs of the history have left open that were interrupted, and what any of
    ours has that it knows as crashed. Never raises.
    """
    try:
        runs = list_runs(history, NEWEST, Filter(state="interrupted"))
        # The oldest first, so that of a flow run that died several times the last one counts.
        if dead := {UUID(run.flow_run_id): run for each in runs[::-1] if (run := each.run).flow_run_id}:
            async with get_client() as client:
                await close_open_tasks(client, _those(await _close_flows(client, dead)))
        await close_once(log.info)
    except Exception as error:
        log.warning("runs that have died may still look alive in Prefect's UI: %s", error)


async def _close_flows(client: PrefectClient, dead: Mapping[UUID, Run]) -> set[UUID]:
    """Which of them are closed now: all but those that go on in another process, since somebody retried."""
    state = FlowRunFilterState(type=FlowRunFilterStateType(any_=OPEN))
    wanted = FlowRunFilter(id=FlowRunFilterId(any_=list(dead)), state=state)
    closed = set(dead)
    for run in await client.read_flow_runs(flow_run_filter=wanted):
        if await _started_at(client, run.id) > dead[run.id].started_at:
            closed.remove(run.id)
        else:
            await client.set_flow_run_state(run.id, Crashed(message="its process has died"), force=True)
    return closed


async def _started_at(client: PrefectClient, run_id: UUID) -> datetime:
    """When the flow run's newest process was started, before which no run of its own can have begun."""
    states = await client.read_flow_run_states(run_id)
    started = [state.timestamp for state in states if state.type in STARTED]
    return max(started, default=datetime.min.replace(tzinfo=UTC))


def _those(ids: Collection[UUID]) -> FlowRunFilter:
    return FlowRunFilter(id=FlowRunFilterId(any_=list(ids)))
