"""A partition's proof is checked by pairing, and written."""

from prefect import State, task

from tasks.follow import OPTIONS, Ended, follow
from tasks.key import Key


@task(task_run_name="verify {key.name}", **OPTIONS)
async def verify(key: Key) -> Ended | State:
    """Wait until the partition's proof is verified."""
    return await follow(key, "verify")
