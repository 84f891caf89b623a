"""A partition's proof is checked by pairing; once all are, the proof is put together and written."""

from prefect import get_run_logger, task

import engine
from tasks.follow import OPTIONS, Ended, follow, note_start
from tasks.key import Key


@task(task_run_name="verify {key.name}", **OPTIONS)
async def verify(key: Key) -> Ended:
    """Wait until the partition's proof is verified."""
    return await follow(key, "verify")


@task(task_run_name="assemble {key.name}", **OPTIONS)
async def assemble(key: Key) -> None:
    """Wait until the proof's files have their names."""
    note_start()
    result = await engine.current().result(key.proof_id)
    get_run_logger().info("written to %s", ", ".join(str(path) for path in result.proof_paths))
