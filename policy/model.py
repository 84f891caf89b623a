"""The nouns the policy reasons about: sizes in bytes, counts and names; nothing that can be executed."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from typing import NamedTuple


class Priority(IntEnum):
    """Smaller is more urgent."""

    CRITICAL = 0
    HIGH = 1
    NORMAL = 2
    LOW = 3


class PartitionId(NamedTuple):
    """One circuit instance of a job; `index` counts from 0."""

    job_id: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody calls on an id

    def __str__(self) -> str:
        return f"{self.job_id}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Entry:
    """An SRS or a PCE in host memory, or what a device keeps of them in its own.

    `key` names its content: a replaced file must get another key.
    """

    key: str
    size_bytes: int

    def __post_init__(self) -> None:
        _at_least(f"size_bytes of entry {self.key}", self.size_bytes, 0)


@dataclass(frozen=True, slots=True)
class Circuit:
    """What one partition needs: its entries, and a working set in host memory.

    The working set is `phase1_bytes + phase2_bytes`: phase 1 (a, b, c) is given back once the quotient
    exists, phase 2 once the proof does. `device_bytes` are held in the memory of the device that proves,
    where that device has memory of its own, beside `device_entry`, which all partitions there share. Its
    keys are apart from those of `entries`.
    """

    name: str
    entries: tuple[Entry, ...]
    phase1_bytes: int
    phase2_bytes: int
    device_bytes: int = 0
    device_entry: Entry | None = None

    def __post_init__(self) -> None:
        _at_least(f"phase1_bytes of {self.name}", self.phase1_bytes, 0)
        _at_least(f"phase2_bytes of {self.name}", self.phase2_bytes, 0)
        _at_least(f"device_bytes of {self.name}", self.device_bytes, 0)
        _unique(f"entry of circuit {self.name}", (entry.key for entry in self.entries))

    def __hash__(self) -> int:
        return hash(self.name)  # of all fields it would cost more than most decisions

    @property
    def working_bytes(self) -> int:
        return self.phase1_bytes + self.phase2_bytes

    @property
    def entries_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.entries)

    @property
    def device_entry_bytes(self) -> int:
        return 0 if self.device_entry is None else self.device_entry.size_bytes


@dataclass(frozen=True, slots=True)
class Job:
    """A proof of `partitions` partitions. `id` must differ from that of every unfinished job.

    `due_s`: when it should be done, on the clock of `Policy.handle`. It moves the proof's turn forward as
    that time comes near; a proof that is late is still made.
    """

    id: str
    circuit: Circuit
    partitions: int = 1
    priority: Priority = Priority.NORMAL
    due_s: float | None = None

    def __post_init__(self) -> None:
        _at_least(f"partitions of job {self.id}", self.partitions, 1)
        if self.due_s is not None and not isfinite(self.due_s):
            raise ValueError(f"due_s of job {self.id} is {self.due_s}, expected a time that comes")


@dataclass(frozen=True, slots=True)
class Device:
    """Something that proves `workers` partitions at once. `memory_bytes` None: it works in host memory."""

    name: str
    workers: int
    memory_bytes: int | None = None

    def __post_init__(self) -> None:
        _at_least(f"workers of device {self.name}", self.workers, 1)
        if self.memory_bytes is not None:
            _at_least(f"memory_bytes of device {self.name}", self.memory_bytes, 1)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the machine gives.

    budget_bytes         host memory for entries and working sets together
    synthesis_slots      partitions that synthesize at once
    devices              in order of preference among equally busy ones
    synthesis_lookahead  no synthesis starts while this many synthesized partitions wait for a device;
                         0: only for a worker that is idle, so synthesis and proving never overlap
    eviction_min_idle_s  an entry used less than this ago is evicted only if nothing else could help
    overtake_limit       partitions that may be admitted past a waiting one before it holds the line
    ageing_s             waiting this long is worth one level of priority
    lookahead_bytes      nothing is admitted while the working sets that have no device yet take this much or
                         more, except for a worker that is idle; None: the budget is the only bound
    sort_by_type         work that would have to evict what others wait for lets the next of its priority go
                         first that fits beside what is in memory, as often as `overtake_limit` lets it
    max_batch_size       proofs of one circuit that go together: as many take one turn, and where they would
                         have to evict others' entries, the first waits for the rest; 1: no batches
    max_batch_wait_s     the longest that the first of a batch waits for the rest
    """

    budget_bytes: int
    synthesis_slots: int
    devices: tuple[Device, ...]
    synthesis_lookahead: int = 1
    eviction_min_idle_s: float = 0.0
    overtake_limit: int = 10
    ageing_s: float = 600.0
    lookahead_bytes: int | None = None
    sort_by_type: bool = True
    max_batch_size: int = 1
    max_batch_wait_s: float = 10.0

    def __post_init__(self) -> None:
        _at_least("budget_bytes", self.budget_bytes, 1)
        _at_least("synthesis_slots", self.synthesis_slots, 1)
        _at_least("number of devices", len(self.devices), 1)
        _at_least("synthesis_lookahead", self.synthesis_lookahead, 0)
        _at_least("eviction_min_idle_s", self.eviction_min_idle_s, 0)
        _at_least("overtake_limit", self.overtake_limit, 0)
        _at_least("ageing_s", self.ageing_s, 0)
        _at_least("max_batch_size", self.max_batch_size, 1)
        _at_least("max_batch_wait_s", self.max_batch_wait_s, 0)
        if self.lookahead_bytes is not None:
            _at_least("lookahead_bytes", self.lookahead_bytes, 1)
        _unique("device", (device.name for device in self.devices))


def _at_least(name: str, value: float, least: float) -> None:
    if not (isfinite(value) and value >= least):
        raise ValueError(f"{name} is {value}, expected at least {least} and finite")


def _unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two of {what} are named {name}, expected different names")
        seen.add(name)
