"""What a flow's process keeps: bytes for each task and proof, and arrays of proofs that have ended."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from numpy.typing import NDArray

from benchmarks.flows.setting import silent
from engine import freeing, partition
from engine.work import Work


class Watch:
    """When each array of a partition was dropped by its partition, and when it was gone."""

    def __init__(self) -> None:
        self.alive: dict[int, float] = {}  # by the reference's id: when it was dropped
        self.late_s: list[float] = []
        self._references: list[weakref.ref[NDArray[Any]]] = []

    def dropping(self, work: Work) -> None:
        """The partition is about to drop the arrays that it has now."""
        for array in work._arrays():
            reference = weakref.ref(freeing.owner(array), self._gone)
            self._references.append(reference)
            self.alive[id(reference)] = time.monotonic()

    def _gone(self, reference: weakref.ref[NDArray[Any]]) -> None:
        self.late_s.append(time.monotonic() - self.alive.pop(id(reference)))


@contextmanager
def watched() -> Iterator[Watch]:
    """Inside the block, partitions tell of their arrays."""
    watch = Watch()

    class Watched(Work):
        def release(self) -> freeing.Watched:
            watch.dropping(self)
            return super().release()

    before = vars(partition)["Work"]
    vars(partition)["Work"] = Watched
    try:
        yield watch
    finally:
        vars(partition)["Work"] = before


def held(small: int, large: int) -> dict[str, object]:
    """A batch that is shown task by task, and one in groups, each after a first that loads everything."""
    from flows.launch import run_batch
    from flows.parameters.batch import batch_parameters
    from tasks.follow import started

    run_batch(batch_parameters(circuit="multiplier", count=20), silent)
    with watched() as watch:
        first_bytes = _rss_bytes()
        run_batch(batch_parameters(circuit="multiplier", count=small, tasks="each"), silent)
        second_bytes, tasks = _rss_bytes(), started.total()
        run_batch(batch_parameters(circuit="multiplier", count=large, concurrency=4), silent)
        third_bytes, groups = _rss_bytes(), started.total()
        time.sleep(2.0)
        gc.collect()
    return {
        "tasks": tasks,
        "bytes_a_task": (second_bytes - first_bytes) // tasks,
        "proofs_in_groups": large,
        "groups": groups,
        "bytes_a_proof_in_groups": (third_bytes - second_bytes) // large,
        "arrays_seen": len(watch.late_s) + len(watch.alive),
        "arrays_alive_after_2_s": len(watch.alive),
        "latest_gone_s": round(max(watch.late_s, default=0.0), 3),
    }


def _rss_bytes() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)
