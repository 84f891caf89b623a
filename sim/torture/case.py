"""A case: a machine, jobs, and what goes wrong. Made of a seed, or cut down from another case."""

from dataclasses import dataclass, field
from typing import Literal

from policy import Cancel, Failed, Job, Limits, PartitionId, Resized, Shared, Unload

Stage = Literal["admitted", "synthesizing", "synthesized", "proving", "quotient", "proved"]
STAGES: tuple[Stage, ...] = ("admitted", "synthesizing", "synthesized", "proving", "quotient", "proved")
Blow = Literal["cancel", "fail", "device out of memory"]
BLOWS: tuple[Blow, ...] = ("cancel", "fail", "device out of memory")


@dataclass(frozen=True)
class Arrival:
    """A job handed in at `at_s`, cancelled `deadline_s` later if there is a deadline, and handed in again
    under the same id up to `retries` times when it failed. `number` is its own, whatever came of others.
    """

    number: int
    at_s: float
    job: Job
    deadline_s: float | None = None
    retries: int = 0


@dataclass(frozen=True)
class Strike:
    """`after_s` seconds after the partition came to the stage, this happens to it or its job."""

    partition: PartitionId
    stage: Stage
    after_s: float
    blow: Blow


@dataclass(frozen=True)
class LoadFails:
    """The `number`-th load of the run fails."""

    number: int


@dataclass(frozen=True)
class DeviceReset:
    """All that the device proves fails at once, and it goes on."""

    device: str


@dataclass(frozen=True)
class Loss:
    """The device is lost: what it proves is displaced at once or after a while, or ends all the same."""

    device: str


@dataclass(frozen=True)
class Crowded:
    """The device runs out of memory: what it proves, one after the other, has to be tried again."""

    device: str


@dataclass(frozen=True)
class Stray:
    """The driver reports once more what it reported last, or of something that is not."""


@dataclass(frozen=True)
class Death:
    """The process dies: memory is empty, and a new policy gets all unfinished jobs again."""


@dataclass(frozen=True)
class At:
    """Something at a time, in whatever state the run is then."""

    at_s: float
    what: Cancel | Failed | Resized | Shared | Unload | DeviceReset | Loss | Crowded | Stray | Death


Fault = Strike | LoadFails | At


@dataclass(frozen=True)
class Pace:
    """Durations in seconds: each drawn from the table by what it is the duration of, so that a case without
    some of its jobs leaves the times of the others as they are.
    """

    table: tuple[float, ...] = field(repr=False)
    synthesize_s: float = 1.0
    prove_s: float = 1.0
    load_s: float = 1.0

    def draw(self, job: int, index: int, kind: int) -> float:
        return self.table[(job * 31 + index * 17 + kind * 101) % len(self.table)]


@dataclass(frozen=True)
class Case:
    seed: int
    limits: Limits
    pace: Pace
    arrivals: tuple[Arrival, ...]
    faults: tuple[Fault, ...]
    took: tuple[float, ...] = ()  # shares of its formula that a partition really takes; none: not measured
    loaded: tuple[float, ...] = ()  # shares of its size that an entry really takes; none: not told

    @property
    def partitions(self) -> int:
        return sum(arrival.job.partitions for arrival in self.arrivals)
