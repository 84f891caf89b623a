"""What is to be proved: closed loops, in which a proof begins when another ends, and open ones, in which
proofs arrive whatever the machine does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import merge
from itertools import repeat
from typing import Literal

from policy import Circuit, Job, Priority
from sim.arrivals import Arrivals
from sim.circuits import SimCircuit

Loop = Literal["closed", "open"]
START = datetime(2026, 1, 1, tzinfo=UTC)
"""When an open workload begins that does not say: only cron asks for the time of day."""


@dataclass(frozen=True)
class Batch:
    """A closed loop: `count` proofs, `concurrency` of them at a time, the next when one has ended.

    `constraints` of the circuit, where the machine's profile may have no observed times of it.
    """

    circuit: Circuit
    count: int
    concurrency: int
    partitions: int = 1
    priority: Priority = Priority.NORMAL
    constraints: int | None = None

    def __post_init__(self) -> None:
        for name in ("count", "concurrency", "partitions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, expected at least 1")

    def jobs(self) -> Iterator[Job]:
        for number in range(1, self.count + 1):
            yield Job(f"{self.circuit.name} #{number}", self.circuit, self.partitions, self.priority)


@dataclass(frozen=True, slots=True)
class Request:
    """A proof that somebody wants; `due_s` on the clock of the run."""

    name: str
    circuit: Circuit
    partitions: int
    priority: Priority
    due_s: float | None = None

    def job(self, attempt: int) -> Job:
        """The job that is its `attempt`-th, counted from 0."""
        name = f"{self.name}, attempt {attempt + 1}" if attempt else self.name
        return Job(name, self.circuit, self.partitions, self.priority, self.due_s)


@dataclass(frozen=True)
class ClosedLoop:
    """Batches side by side; the run ends with the last proof."""

    batches: tuple[Batch, ...]
    loop: Loop = field(default="closed", init=False)

    @property
    def circuits(self) -> Mapping[str, SimCircuit]:
        """By name."""
        return {each.circuit.name: SimCircuit(each.circuit, each.constraints, each.partitions, each.priority)
                for each in self.batches}  # fmt: skip

    @property
    def proof_count(self) -> int:
        """Of all batches."""
        return sum(batch.count for batch in self.batches)

    def requests(self) -> list[tuple[int, Iterator[Request]]]:
        """For each batch its concurrency and its proofs. Names differ from batch to batch."""
        streams = []
        for number, batch in enumerate(self.batches, start=1):
            prefix = "" if len(self.batches) == 1 else f"batch {number} "
            streams.append((batch.concurrency, _requests(batch, prefix)))
        return streams


def _requests(batch: Batch, prefix: str) -> Iterator[Request]:
    for job in batch.jobs():
        yield Request(prefix + job.id, job.circuit, job.partitions, job.priority)


@dataclass(frozen=True)
class OpenLoop:
    """Arrivals side by side for `duration_s`; the run ends when all that arrived is done."""

    arrivals: tuple[Arrivals, ...]
    duration_s: float
    start: datetime = START
    loop: Loop = field(default="open", init=False)

    @property
    def circuits(self) -> Mapping[str, SimCircuit]:
        """By name."""
        return {each.circuit.shape.name: each.circuit for each in self.arrivals}

    def requests(self, seed: int) -> Iterator[tuple[float, Request]]:
        """When each proof arrives, in order. The same seed gives the same arrivals."""
        streams = [zip(times, repeat(place)) for place, times in enumerate(self._times(seed))]
        counts: dict[str, int] = {}
        for at_s, place in merge(*streams):
            yield at_s, self._request(place, at_s, counts)

    def counts(self, seed: int) -> list[int]:
        """How many proofs `requests` has of each arrivals."""
        return [sum(1 for _ in times) for times in self._times(seed)]

    def _times(self, seed: int) -> list[Iterator[float]]:
        return [
            each.times(self.duration_s, self.start, seed, place) for place, each in enumerate(self.arrivals)
        ]

    def _request(self, place: int, at_s: float, counts: dict[str, int]) -> Request:
        arrivals = self.arrivals[place]
        circuit, name = arrivals.circuit, arrivals.circuit.shape.name
        counts[name] = counts.get(name, 0) + 1
        priority = circuit.priority if arrivals.priority is None else arrivals.priority
        due_s = None if arrivals.deadline_s is None else at_s + arrivals.deadline_s
        partitions = arrivals.partitions or circuit.partitions
        return Request(f"{name} #{counts[name]}", circuit.shape, partitions, priority, due_s)


Workload = ClosedLoop | OpenLoop
