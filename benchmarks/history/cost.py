"""What recording takes of a batch: the CPU time that it uses up, and how long it holds up a thread at most.

Two batches, one with and one without a history, differ by more than is to be measured. So what is counted is
the CPU time of each call of the writer, and of the writer's thread.
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
from typing import Any

from benchmarks.history.batch import Task, prove, small_circuit
from db import HistoryWriter, Record, memory_samples, open_history
from engine import Engine

THREADS = ("history-writer", "memory-monitor")


@dataclass
class Counted:
    """A writer that counts the CPU seconds of its calls, and how long the longest lasted by the clock."""

    writer: HistoryWriter
    calls: int = 0
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
        self.calls += 1


@dataclass(frozen=True)
class Cost:
    """Seconds of a batch, and how many of them went into recording."""

    wall_s: float
    calls: int
    calls_s: float
    longest_call_s: float
    writer_s: float
    monitor_s: float
    samples: int

    @property
    def share(self) -> float:
        """Of the wall time, as if nothing had been done beside. Taking the samples is not recording them."""
        return (self.calls_s + self.writer_s) / self.wall_s

    def told(self) -> str:
        rate, longest_ms = self.samples / self.wall_s, self.longest_call_s * 1000
        return (
            f"{self.share:.2%} of {self.wall_s:.1f} s, with {rate:.0f} samples a second: {self.calls:,} calls"
            f" took {self.calls_s:.3f} s of CPU, the longest {longest_ms:.2f} ms, the writer's thread"
            f" {self.writer_s:.3f} s of CPU; taking the samples took the monitor's {self.monitor_s:.3f} s"
        )


def measure(proofs: int, log2_size: int, report: Callable[[str], None]) -> Cost:
    """Prove a batch twice, the first time to compile and to load, and count in the second."""
    circuit = small_circuit(log2_size, report)
    with tempfile.TemporaryDirectory() as folder, open_history(Path(folder) / "h.db") as history:
        for number, count in enumerate((2, proofs)):
            report(f"proving {count} times")
            with history.writer() as writer:
                counted, cpu = Counted(writer), dict[str, float]()
                task = Task("", f"{folder}/{number}", circuit.as_dict(), count, f"cost-{number}")
                begun_s = time.perf_counter()
                asyncio.run(prove(task, counted, lambda _: None, partial(_cpu_of_threads, cpu)))
                wall_s = time.perf_counter() - begun_s
        samples = len(memory_samples(history, "cost-1"))
    writer_s, monitor_s = (cpu[name] for name in THREADS)
    return Cost(wall_s, counted.calls, counted.cpu_s, counted.longest_s, writer_s, monitor_s, samples)


@contextmanager
def _cpu_of_threads(spent: dict[str, float], _: Engine) -> Iterator[None]:
    threads = [each for each in threading.enumerate() if each.name in THREADS and each.ident]
    clocks = {each.name: time.pthread_getcpuclockid(each.ident or 0) for each in threads}
    before = {name: time.clock_gettime(clock) for name, clock in clocks.items()}
    yield
    spent |= {name: time.clock_gettime(clock) - before[name] for name, clock in clocks.items()}
