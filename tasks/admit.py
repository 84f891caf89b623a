"""A partition waits until its memory is reserved: what it waits for is in the task's log."""

import asyncio

from prefect import State, get_run_logger, task
from prefect.states import Cancelled

from engine import ProofCancelled
from tasks.follow import OPTIONS, Ended, note_start
from tasks.key import Key
from tasks.real_times import show_real_times
from tasks.source import source

LOOK_EVERY_S = 2.0


@task(task_run_name="admit {key.name}", **OPTIONS)
async def admit(key: Key) -> Ended | State:
    """Wait until the policy has admitted the partition; each cause of the wait is a line of the log."""
    note_start()
    if source.get().has_started(key.proof_id, "load", key.partition):
        _show_times(key)
        return Ended()
    try:
        await _wait(key)
    except ProofCancelled as error:
        return Cancelled(message=str(error))
    waited_s = source.get().waited_s(key.proof_id, key.partition)
    get_run_logger().info("admitted after %.2f s", waited_s)
    _show_times(key)
    return Ended()


def _show_times(key: Key) -> None:
    show_real_times(source.get().times_s(key.proof_id, "admit", key.partition))


async def _wait(key: Key) -> None:
    admitted = asyncio.ensure_future(source.get().wait_started(key.proof_id, "load", key.partition))
    told = ""
    try:
        while not admitted.done():
            told = _tell(key, told)
            await asyncio.wait([admitted], timeout=LOOK_EVERY_S)
        admitted.result()
    finally:
        admitted.cancel()


def _tell(key: Key, told: str) -> str:
    """Log what the partition waits for, unless that was the last line."""
    _, _, does = source.get().explain(key.proof_id, key.partition).partition(" ")  # after its id
    if does != told:
        get_run_logger().info("%s %s", key.name, does)
    return does
