"""What the engine's tests share: rows instead of a database, stages that can be held, and patience."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from config import Config, GpusConfig, SynthesisConfig
from db import Record
from engine import CircuitSpec, load_shape
from engine.freeing import Watched
from policy import Device, Limits, PartitionId
from policy.codec import decode_decision, decode_event

ROOT = Path(__file__).parents[2]
CONFIG = Config(synthesis=SynthesisConfig(threads=2), gpus=GpusConfig(gpu_threads=2))
PATIENCE_S = 120.0
COMPILES_NOTHING = (
    "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"  # for `compiling.WORKER`
)


def limits_for(spec: CircuitSpec, at_once: int, **values: Any) -> Limits:
    """A budget for the circuit's entries and exactly so many working sets, and more threads than that."""
    shape = load_shape(spec)
    budget_bytes = shape.entries_bytes + at_once * shape.working_bytes
    given = {"synthesis_slots": 3, "devices": (Device("cpu", 3),), "synthesis_lookahead": 3} | values
    return Limits(budget_bytes, **given)


class Rows:
    """A history's writer that keeps rows as dicts, by table and in order."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.flushed = 0

    def insert(self, row: Record, /) -> None:
        values = {column.key: getattr(row, column.key) for column in type(row).__table__.columns}
        self.tables.setdefault(type(row).__tablename__, []).append(values)

    def insert_values(self, model: type[Record], rows: Sequence[Mapping[str, Any]], /) -> None:
        self.tables.setdefault(model.__tablename__, []).extend(dict(row) for row in rows)

    def update(self, model: type[Record], key: str | tuple[str, int], /, **values: Any) -> None:
        names = [column.key for column in model.__table__.primary_key]
        wanted = (key,) if isinstance(key, str) else key
        rows = self.tables[model.__tablename__]
        (row,) = [each for each in rows if tuple(each[name] for name in names) == wanted]
        row.update(values)

    def flush(self) -> None:
        self.flushed += 1

    def log(self) -> list[Any]:
        """Events and the decisions that followed each, one list."""
        return [
            message
            for row in self.tables["policy_event"]
            for message in (decode_event(row["event"]), *map(decode_decision, row["decisions"]))
        ]

    def most_at_once(self, begins: type, ends: tuple[type, ...]) -> int:
        """The most partitions that were between a message of `begins` and one of `ends`."""
        inside: set[PartitionId] = set()
        most = 0
        for message in self.log():
            if isinstance(message, begins):
                inside.add(message.partition)  # type: ignore[attr-defined]  # such messages have one
            elif isinstance(message, ends):
                inside.discard(message.partition)  # type: ignore[attr-defined]  # such messages have one
            most = max(most, len(inside))
        return most


class Hold:
    """Takes a step's place: waits in it, holding memory, until let go or stopped between two chunks."""

    def __init__(self, real: Callable[..., Any]) -> None:
        self._real = real
        self.inside, self.let_go = threading.Event(), threading.Event()
        self.watched: list[Watched] = []

    def __call__(self, *arguments: Any) -> Any:
        ballast = np.ones(1000)
        self.watched.append(Watched(ballast))
        self.inside.set()
        deadline_s = time.monotonic() + PATIENCE_S
        while not self.let_go.wait(0.002):
            assert time.monotonic() < deadline_s, "the test forgot the step it holds"
            if hasattr(arguments[-1], "threads"):  # a PoolRunner, which looks at the stop flag
                arguments[-1](time.sleep, [(0.001,)])
        return self._real(*arguments)

    async def entered(self) -> None:
        await until(self.inside.is_set)

    def held_bytes(self) -> int:
        return sum(watched.held_bytes() for watched in self.watched)


async def until(condition: Callable[[], bool]) -> None:
    """Return once the condition is true; AssertionError if it never becomes so."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "nothing happened"
        await asyncio.sleep(0.002)


def run(steps: Coroutine[Any, Any, Any]) -> Any:
    """Run a test's coroutine to its end, or fail if it has none."""

    async def bounded() -> Any:
        return await asyncio.wait_for(steps, 2 * PATIENCE_S)

    return asyncio.run(bounded())
