"""When proofs of a circuit arrive in an open loop: at random, at regular times, by cron, or as recorded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from math import ceil
from random import Random
from typing import Protocol
from zoneinfo import ZoneInfo

from policy import Priority
from sim.circuits import SimCircuit

FEW = 2_000  # of a crontab's line, which are counted one by one
DAY_S = 86_400.0
UTC = ZoneInfo("UTC")
ANY_DAY = datetime(2026, 1, 1, tzinfo=UTC)


class Times(Protocol):
    """Seconds since the start, in order, below `duration_s`. `seed` names a stream of random numbers."""

    def __call__(self, duration_s: float, start: datetime, seed: str, /) -> Iterator[float]: ...

    def about(self, duration_s: float, start: datetime, /) -> float:
        """How many there are, without going through all."""
        ...


@dataclass(frozen=True)
class Poisson:
    """At random and independently of each other, `per_s` a second on average."""

    per_s: float

    def __call__(self, duration_s: float, _start: datetime, seed: str) -> Iterator[float]:
        random, at_s = Random(seed), 0.0
        while (at_s := at_s + random.expovariate(self.per_s)) < duration_s:
            yield at_s

    def about(self, duration_s: float, _start: datetime) -> float:
        return self.per_s * duration_s


@dataclass(frozen=True)
class Periodic:
    """Every `period_s`, the first at `offset_s`."""

    period_s: float
    offset_s: float = 0.0

    def __call__(self, duration_s: float, _start: datetime, _seed: str) -> Iterator[float]:
        number = 0
        while (at_s := self.offset_s + number * self.period_s) < duration_s:
            yield at_s
            number += 1

    def about(self, duration_s: float, _start: datetime) -> float:
        return max(0.0, ceil((duration_s - self.offset_s) / self.period_s))


@dataclass(frozen=True)
class Cron:
    """At the times of a crontab's line in a time zone, as a deployment's schedule has them."""

    expression: str
    zone: ZoneInfo

    def __call__(self, duration_s: float, start: datetime, _seed: str) -> Iterator[float]:
        from cronsim import CronSim

        before = start.astimezone(self.zone) - timedelta(seconds=1)  # what comes at the start itself counts
        for at in CronSim(self.expression, before):
            at_s = (at - start).total_seconds()
            if at_s >= duration_s:
                return
            yield max(0.0, at_s)

    def about(self, duration_s: float, start: datetime) -> float:
        return _about(self, duration_s, start)


@lru_cache
def _about(cron: Cron, duration_s: float, start: datetime) -> float:
    """Of many as many as a day of its line has, times these days; a sweep asks of each of its points."""
    few = sum(1 for _ in islice(cron(duration_s, start, ""), FEW))
    if few < FEW:
        return few
    minute, hour, *day = cron.expression.split()
    of_a_day = sum(1 for _ in Cron(f"{minute} {hour} * * *", UTC)(DAY_S, ANY_DAY, ""))
    return of_a_day * sum(1 for _ in Cron(" ".join(["0", "0", *day]), cron.zone)(duration_s, start, ""))


@dataclass(frozen=True)
class Trace:
    """At recorded times."""

    at_s: Sequence[float]

    def __call__(self, duration_s: float, _start: datetime, _seed: str) -> Iterator[float]:
        yield from (at_s for at_s in sorted(self.at_s) if at_s < duration_s)

    def about(self, duration_s: float, _start: datetime) -> float:
        return sum(at_s < duration_s for at_s in self.at_s)


@dataclass(frozen=True)
class Arrivals:
    """`count` proofs of a circuit at each of `at`, each wanted within `deadline_s`.

    `partitions` and `priority` are the circuit's own where they are None.
    """

    circuit: SimCircuit
    at: Times
    count: int = 1
    deadline_s: float | None = None
    priority: Priority | None = None
    partitions: int | None = None

    def times(self, duration_s: float, start: datetime, seed: int, place: int) -> Iterator[float]:
        """When each proof arrives, in order; `place` among the workload's arrivals."""
        for at_s in self.at(duration_s, start, f"{seed}/arrivals/{place}/{self.circuit.shape.name}"):
            yield from [at_s] * self.count
