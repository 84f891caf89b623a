"""The proving key and the matrices come into memory, if they are not there."""

from prefect import task

from engine import StageSummary
from tasks.follow import OPTIONS, follow
from tasks.key import Key


@task(task_run_name="load {key.name}", **OPTIONS)
async def load(key: Key) -> StageSummary:
    """Wait until what the proof's partitions share is in memory."""
    return await follow(key, "load")
