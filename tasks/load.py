"""The proving key and the matrices come into memory."""

from prefect import State, task

from tasks.follow import OPTIONS, Ended, follow
from tasks.key import Key


@task(task_run_name="load {key.name}", **OPTIONS)
async def load(key: Key) -> Ended | State:
    """Wait until what the partition shares with others is in memory. Shown only where it was not there."""
    return await follow(key, "load")
