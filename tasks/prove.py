"""A partition's quotient and its proof."""

from prefect import task

from engine import StageSummary
from tasks.follow import OPTIONS, follow
from tasks.key import Key


@task(task_run_name="prove {key.name}", **OPTIONS)
async def prove(key: Key) -> StageSummary:
    """Wait until the partition is proved."""
    return await follow(key, "prove")
