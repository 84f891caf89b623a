"""The proving key and the matrices come into memory, if they are not there."""

from prefect import task

from tasks.follow import OPTIONS, Ended, follow
from tasks.key import Key


@task(task_run_name="load {key.name}", **OPTIONS)
async def load(key: Key) -> Ended:
    """Wait until what the proof's partitions share is in memory."""
    return await follow(key, "load")
