"""What recording takes of a batch: pairs of batches, with a history and without, and their times' ratio.

Which of a pair is first alternates, so that a machine that grows warm, or busy, counts for neither alone.
One ratio tells nothing, as two like batches differ by more than is to be measured: what is told is the median
of many, and its interval. Proofs come one after the other, from the first submission to the last proof, since
batches whose proofs meet by chance differ far more; and both run on as few cores as one proof uses, or what
records would have a core to itself.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.history.batch import SAMPLE_EVERY_S, Task, prove, small_circuit
from benchmarks.memory.worker import THREADS
from db import HistoryWriter, Record, memory_samples, new_id, open_history
from engine.recorder import NoWriter, Writer

RARELY_S = 0.25  # between samples of a batch without a history, as the engine takes them by default
RESAMPLES = 10_000
CONFIDENCE = 95
FEWEST_PAIRS = 5


@dataclass
class Watched:
    """A writer whose longest call is known, in seconds by the clock: it would stall a batch."""

    writer: HistoryWriter
    longest_s: float = 0.0

    def insert(self, row: Record, /) -> None:
        self._watch(self.writer.insert, row)

    def insert_values(self, model: type[Record], rows: Sequence[Mapping[str, Any]], /) -> None:
        self._watch(self.writer.insert_values, model, rows)

    def update(self, model: type[Record], key: str | tuple[str, int], /, **values: Any) -> None:
        self._watch(self.writer.update, model, key, **values)

    def flush(self) -> object:
        return self.writer.flush()

    def _watch(self, call: Callable[..., None], *arguments: Any, **values: Any) -> None:
        begun_s = time.perf_counter()
        call(*arguments, **values)
        self.longest_s = max(self.longest_s, time.perf_counter() - begun_s)


@dataclass(frozen=True)
class Pair:
    """The seconds of a batch with a history and of one without."""

    recorded_s: float
    unrecorded_s: float
    samples: int
    longest_call_s: float


@dataclass(frozen=True)
class Cost:
    """What many pairs tell."""

    pairs: Sequence[Pair]

    @property
    def share(self) -> float:
        """The median of how much longer the batch with a history took."""
        return float(np.median(self._shares()))

    @property
    def interval(self) -> tuple[float, float]:
        """The median's 95 % interval, the percentile bootstrap's."""
        shares = self._shares()
        drawn = np.random.default_rng(1).integers(0, len(shares), (RESAMPLES, len(shares)))
        outside = (100 - CONFIDENCE) / 2
        low, high = np.percentile(np.median(shares[drawn], axis=1), [outside, 100 - outside])
        return float(low), float(high)

    def told(self) -> str:
        low, high = self.interval
        pairs, seconds = len(self.pairs), np.median([pair.recorded_s for pair in self.pairs])
        rate = sum(pair.samples for pair in self.pairs) / sum(pair.recorded_s for pair in self.pairs)
        longest_ms = 1000 * max(pair.longest_call_s for pair in self.pairs)
        return (
            f"{self.share:+.2%} ({low:+.2%} to {high:+.2%}) of {seconds:.1f} s, the median of {pairs}"
            f" pairs, with {rate:.0f} samples a second; the longest call took {longest_ms:.2f} ms"
        )

    def _shares(self) -> NDArray[np.float64]:
        return np.array([pair.recorded_s / pair.unrecorded_s - 1 for pair in self.pairs])


def measure(proofs: int, log2_size: int, seconds: float, report: Callable[[str], None]) -> Cost:
    """Prove pairs of batches for so long, after one to compile and to load."""
    circuit = small_circuit(log2_size, report).as_dict()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    with tempfile.TemporaryDirectory() as folder:
        task = Task("", folder, circuit, proofs, new_id())
        _pair(task, True)
        pairs: list[Pair] = []
        until_s = time.monotonic() + seconds
        for number in count():
            if time.monotonic() > until_s and len(pairs) >= FEWEST_PAIRS:
                return Cost(pairs)
            pairs.append(_pair(task, number % 2 == 0))
            report(f"{pairs[-1].recorded_s:.3f} s recorded, {pairs[-1].unrecorded_s:.3f} s not")
    raise AssertionError("count() has no end")


def _pair(task: Task, recorded_first: bool) -> Pair:
    unrecorded_s = 0.0 if recorded_first else _seconds(task, NoWriter(), RARELY_S)
    recorded_s, samples, longest_s = _recorded(task)
    return Pair(recorded_s, unrecorded_s or _seconds(task, NoWriter(), RARELY_S), samples, longest_s)


def _recorded(task: Task) -> tuple[float, int, float]:
    """Its seconds, memory samples, and the longest call's seconds."""
    with (
        tempfile.TemporaryDirectory(dir=task.folder) as folder,
        open_history(Path(folder) / "history.db") as history,
        history.writer() as writer,
    ):
        watched = Watched(writer)
        seconds = _seconds(task, watched, SAMPLE_EVERY_S)
        return seconds, len(memory_samples(history, task.run_id)), watched.longest_s


def _seconds(task: Task, writer: Writer, sample_every_s: float) -> float:
    with tempfile.TemporaryDirectory(dir=task.folder) as folder:
        task = Task(task.url, folder, task.circuit, task.proofs, task.run_id)
        return asyncio.run(prove(task, writer, lambda _: None, sample_every_s, at_once=1))
