"""What the tasks share: each shows a stage that the engine has started by itself."""

from collections import Counter
from typing import Any

from prefect import State, get_run_logger
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run, task_run
from prefect.states import Cancelled

from engine import ProofCancelled
from engine.proofs import Stage
from tasks.key import Key
from tasks.real_times import show_real_times
from tasks.source import source

# Prefect walks, hashes and keeps what a task is given and returns. So tasks are given keys and return
# nothing to speak of; what is large never leaves the engine.
OPTIONS: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}

started: Counter[str] = Counter()
"""How many tasks of each flow run have started in this process, by the flow run's id."""


class Ended:
    """What a task returns, for those that come after it to be given: an edge of the DAG.

    Prefect knows an edge by the identity of a result or of its parts, and equal words in the results of two
    tasks may be one object. This has no parts, and each is its own.
    """


async def follow(key: Key, stage: Stage) -> Ended | State:
    """Wait until the stage is finished. Raises ProofFailed where it never will be; Cancelled is a state.

    To be called once the stage has started, so that a task's time is the stage's.
    """
    note_start()
    if task_run.id is not None:
        source.get().shown_by(key.proof_id, stage, key.partition, task_run.id)
    try:
        summary = await source.get().wait_finished(key.proof_id, stage, key.partition)
    except ProofCancelled as error:
        return Cancelled(message=str(error))
    get_run_logger().info("%s, %.2f s", summary.detail, summary.seconds)
    show_real_times(source.get().times_s(key.proof_id, stage, key.partition))
    return Ended()


def note_start() -> None:
    """Every task calls this first, so that it is known how many the server must have recorded."""
    if flow_run.id is not None:
        started[flow_run.id] += 1
