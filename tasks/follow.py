"""What the tasks share: each shows a stage that the engine has started by itself."""

from collections import Counter
from typing import Any

from prefect import get_run_logger
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run, task_run

import engine
from engine.proofs import Stage
from tasks.key import Key

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


async def follow(key: Key, stage: Stage) -> Ended:
    """Wait until the stage is finished. Raises ProofFailed or ProofCancelled where it never will be.

    To be called once the stage has started: what a proof waits for, memory above all, is awaited outside of
    tasks, so that a task's time is the stage's, and a proof that waits occupies nothing.
    """
    note_start()
    current = engine.current()
    if task_run.id is not None:
        current.shown_by(key.proof_id, stage, key.partition, task_run.id)
    summary = await current.wait_finished(key.proof_id, stage, key.partition)
    get_run_logger().info("%s, %.2f s", summary.detail, summary.seconds)
    return Ended()


def note_start() -> None:
    """Every task calls this first, so that it is known how many the server must have recorded."""
    if flow_run.id is not None:
        started[flow_run.id] += 1
