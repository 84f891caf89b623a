"""Tasks that a process has left open on Prefect's server when it died: somebody else closes them."""

from uuid import UUID

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.states import Crashed

from flows.left_open import OPEN


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
