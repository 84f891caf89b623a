"""What recording takes of a batch: the CPU time that it uses, and how long it holds up a thread at most.

Counted is the CPU time of each call of the writer, and of the writer's thread, in one batch after the other.
Times of batches with and without a history do not tell: even on idle cores two like batches differ by 12 %,
so that 200 pairs gave +1.0 %, with an interval from -0.6 % to +3.0 %.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.history.batch import Task, prove, small_circuit
from db import HistoryWriter, Record, memory_samples, new_id, open_history
from engine import Engine

THREAD = "history-writer"


@dataclass
class Counted:
    """A writer that counts the CPU seconds of its calls, and how long the longest lasted by the clock."""

    writer: HistoryWriter
    cpu_s: float = 0.0
    longest_s: float = 0.0

    def insert(self, row: Record, /) -> None:
        self._count(self.writer.insert, row)

    def insert_values(self, model: type[Record], rows: Sequence[Mapping[str, Any]], /) -> None:
        self._count(self.writer.insert_values, model, rows)

    def update(self, model: type[Record], key: str | tuple[str, int], /, **values: Any) -> None:
        self._count(self.writer.update, model, key, **values)

    def flush(self) -> object:
        return self.writer.flush()

    def _count(self, call: Callable[..., None], *arguments: Any, **values: Any) -> None:
        begun_s, cpu_s = time.perf_counter(), time.thread_time()
        call(*arguments, **values)
        self.cpu_s += time.thread_time() - cpu_s
        self.longest_s = max(self.longest_s, time.perf_counter() - begun_s)


@dataclass(frozen=True)
class Recorded:
    """Seconds of one batch, and of CPU how many of them went into recording."""

    wall_s: float
    calls_s: float
    longest_call_s: float
    writer_s: float
    samples: int

    @property
    def share(self) -> float:
        """Of the wall time, as if nothing had been done beside. Taking the samples is not recording them."""
        return (self.calls_s + self.writer_s) / self.wall_s


@dataclass(frozen=True)
class Cost:
    """What several batches tell."""

    batches: Sequence[Recorded]

    @property
    def share(self) -> float:
        """The median."""
        return median(each.share for each in self.batches)

    def told(self) -> str:
        shares = [each.share for each in self.batches]
        rate = median(each.samples / each.wall_s for each in self.batches)
        longest_ms = 1000 * max(each.longest_call_s for each in self.batches)
        seconds = median(each.wall_s for each in self.batches)
        return (
            f"{self.share:.2%} of a batch's time, {min(shares):.2%} to {max(shares):.2%} in {len(shares)}"
            f" batches of {seconds:.1f} s, with {rate:.0f} samples a second; the longest call took"
            f" {longest_ms:.2f} ms"
        )


def measure(proofs: int, log2_size: int, times: int, report: Callable[[str], None]) -> Cost:
    """Prove so many batches, after a short one to compile and to load."""
    circuit = small_circuit(log2_size, report).as_dict()
    with tempfile.TemporaryDirectory() as folder:
        _recorded(Task("", folder, circuit, 2, ""))
        batches = [_recorded(Task("", folder, circuit, proofs, "")) for _ in range(times)]
    return Cost(batches)


def _recorded(task: Task) -> Recorded:
    with (
        tempfile.TemporaryDirectory(dir=task.folder) as folder,
        open_history(Path(folder) / "history.db") as history,
        history.writer() as writer,
    ):
        task = Task(task.url, folder, task.circuit, task.proofs, new_id())
        counted, cpu_s = Counted(writer), list[float]()
        begun_s = time.perf_counter()
        asyncio.run(prove(task, counted, lambda _: None, partial(_cpu_of_thread, cpu_s)))
        wall_s = time.perf_counter() - begun_s
        samples = len(memory_samples(history, task.run_id))
    return Recorded(wall_s, counted.cpu_s, counted.longest_s, cpu_s[0], samples)


@contextmanager
def _cpu_of_thread(spent_s: list[float], _: Engine) -> Iterator[None]:
    (thread,) = [each for each in threading.enumerate() if each.name == THREAD]
    clock = time.pthread_getcpuclockid(thread.ident or 0)
    before_s = time.clock_gettime(clock)
    yield
    spent_s.append(time.clock_gettime(clock) - before_s)
