"""A partition's quotient and its proof."""

from prefect import State, task

from tasks.follow import OPTIONS, Ended, follow
from tasks.key import Key


@task(task_run_name="prove {key.name}", **OPTIONS)
async def prove(key: Key) -> Ended | State:
    """Wait until the partition is proved."""
    return await follow(key, "prove")
