"""Real batches, proved one after the other and kept in a history."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.sim.batches import BATCHES, LEARNED, RealBatch
from benchmarks.sim.worker import Task, specs_of
from db import new_id


def record_batches(
    history: Path,
    folder: Path,
    rounds: int,
    report: Callable[[str], None],
    batches: Sequence[RealBatch] = BATCHES,
) -> dict[str, list[str]]:
    """Prove each batch `rounds` times, in turn; the ids of their runs by the batch's name.

    The one to learn from comes once more in the middle of a round: machines that are shared get slower and
    faster by the minute.
    """
    _warm_up(folder, batches)
    runs: dict[str, list[str]] = {batch.name: [] for batch in batches}
    for number in range(rounds):
        for batch in _in_turn(batches):
            began_s = time.monotonic()
            runs[batch.name].append(_prove(batch, history, folder))
            seconds = time.monotonic() - began_s
            report(f"round {number + 1} of {rounds}: {batch.name}, {seconds:.0f} s with its start")
    return runs


def _in_turn(batches: Sequence[RealBatch]) -> list[RealBatch]:
    middle = (len(batches) + 1) // 2
    again = [batch for batch in batches if batch.name == LEARNED]
    return [*batches[:middle], *again, *batches[middle:]]


def _warm_up(folder: Path, batches: Sequence[RealBatch]) -> None:
    """Make keys, and prove once of each circuit: the process that compiles keeps memory for it."""
    names = sorted({name for batch in batches for name in batch.counts})
    specs_of(names, folder)
    with TemporaryDirectory() as unwanted:
        _prove(RealBatch("warm-up", dict.fromkeys(names, 1), 1), Path(unwanted) / "history.db", folder)


def _prove(batch: RealBatch, history: Path, folder: Path) -> str:
    """In a process of its own; the run's id."""
    task = Task(asdict(batch), new_id(), str(history), str(folder))
    subprocess.run(task.command(), check=True)
    return task.run_id
