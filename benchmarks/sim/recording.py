"""Real batches, proved one after the other and kept in a history."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.sim.batches import BATCHES, RealBatch
from benchmarks.sim.worker import Task, specs_of
from db import new_id


def record_batches(
    history: Path,
    folder: Path,
    rounds: int,
    report: Callable[[str], None],
    batches: Sequence[RealBatch] = BATCHES,
) -> dict[str, list[str]]:
    """Prove each batch `rounds` times, in turn; the ids of their runs by the batch's name."""
    specs_of(sorted({name for batch in batches for name in batch.counts}), folder)
    runs: dict[str, list[str]] = {batch.name: [] for batch in batches}
    for number in range(rounds):
        for batch in batches:
            began_s = time.monotonic()
            task = Task(asdict(batch), new_id(), str(history), str(folder))
            subprocess.run(task.command(), check=True)
            runs[batch.name].append(task.run_id)
            seconds = time.monotonic() - began_s
            report(f"round {number + 1} of {rounds}: {batch.name}, {seconds:.0f} s with its start")
    return runs
