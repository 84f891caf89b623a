"""The DAG of one proof: for each partition admit → load → synthesize → prove → verify.

The engine runs by itself; here a task begins when its stage has begun, and ends with it. So the bars in the
UI are the real times: waiting for memory is the bar of "admit", and waiting for a device the gap before
"prove". Nothing here holds up the engine, which may be a stage ahead of what is shown.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from prefect import State, Task

from engine import EngineError
from engine.proofs import Stage
from tasks.admit import admit
from tasks.follow import Ended
from tasks.key import Key
from tasks.load import load
from tasks.prove import prove
from tasks.source import source
from tasks.synthesize import synthesize
from tasks.verify import verify

StageTask = Task[[Key], Coroutine[Any, Any, Ended | State]]
STAGES: tuple[tuple[Stage, StageTask], ...] = (
    ("load", load),
    ("synthesize", synthesize),
    ("prove", prove),
    ("verify", verify),
)


async def show_proof(proof_id: str, name: str, partitions: int) -> None:
    """Show a submitted proof from now to its end, well or not, as tasks."""
    keys = partition_keys(proof_id, name, partitions)
    ends = await asyncio.gather(*map(_show_partition, keys), return_exceptions=True)
    for end in ends:  # how proofs end, the engine tells
        if isinstance(end, BaseException) and not isinstance(end, EngineError):
            raise end


def partition_keys(proof_id: str, name: str, count: int) -> list[Key]:
    """The proof's partitions by name: "merkle #2 [1/3]", or as the proof where it has only one."""
    if count == 1:
        return [Key(proof_id, name)]
    return [Key(proof_id, f"{name} [{index + 1}/{count}]", index) for index in range(count)]


async def _show_partition(key: Key) -> None:
    """The partition's tasks, one after the other; what is given as `wait_for` is an edge of the DAG."""
    proofs, before = source.get(), await admit(key)
    for stage, shown in STAGES:
        if not isinstance(before, Ended):  # it was cancelled
            return
        await proofs.wait_started(key.proof_id, stage, key.partition)
        if stage == "load" and proofs.has_finished(key.proof_id, stage, key.partition):
            continue  # it was in memory
        before = await shown(key, wait_for=[before])
