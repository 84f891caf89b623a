"""A partition's witness, and the values of its constraints."""

from prefect import State, task

from tasks.follow import OPTIONS, Ended, follow
from tasks.key import Key


@task(task_run_name="synthesize {key.name}", **OPTIONS)
async def synthesize(key: Key) -> Ended | State:
    """Wait until the partition is synthesized."""
    return await follow(key, "synthesize")
