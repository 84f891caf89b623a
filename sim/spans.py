"""What a policy's log tells of stages: when each partition was in which, and how many others were."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from policy import (
    Circuit,
    Decision,
    DeviceOutOfMemory,
    Event,
    Failed,
    Load,
    Loaded,
    LoadFailed,
    Measured,
    PartitionId,
    Prove,
    Proved,
    QuotientDone,
    Submit,
    Synthesize,
    Synthesized,
    Verified,
)

Kind = Literal["load", "synthesize", "prove", "verify"]


class Entry(Protocol):
    """An entry of a log, recorded or simulated."""

    @property
    def at_s(self) -> float: ...
    @property
    def event(self) -> Event: ...
    @property
    def decisions(self) -> Sequence[Decision]: ...


class Span(NamedTuple):
    """A stage of a partition, or the load of an entry, that ended well. `first`: of its kind and circuit."""

    kind: Kind
    circuit: str
    device: str
    began_s: float
    ended_s: float
    first: bool

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s


class AtWork(NamedTuple):
    """From this time on so many synthesize, and partitions of these circuits prove, by the device."""

    at_s: float
    synthesizing: int
    proving: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Stages:
    """All that a log tells of stages, by circuit.

    `loaded_bytes` of entries, and what was reserved for them, all loads together.
    """

    spans: tuple[Span, ...]
    at_work: tuple[AtWork, ...]
    circuits: dict[str, Circuit]
    measured_bytes: dict[str, list[int]]
    loaded_bytes: dict[str, tuple[int, int]]
    quotient_shares: tuple[float, ...]


class _Reader:
    """Goes through a log, and keeps what has begun and not ended."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.at_work: list[AtWork] = []
        self.circuits: dict[str, Circuit] = {}
        self.measured_bytes: dict[str, list[int]] = defaultdict(list)
        self.loaded_bytes: dict[str, tuple[int, int]] = {}
        self.quotient_shares: list[float] = []
        self._jobs: dict[str, Circuit] = {}
        self._begun: dict[PartitionId, tuple[Kind, float]] = {}
        self._devices: dict[PartitionId, str] = {}
        self._loads: dict[str, tuple[float, int]] = {}
        self._quotients: dict[PartitionId, float] = {}
        self._seen: set[tuple[Kind, str]] = set()

    def take(self, entry: Entry) -> None:
        self._happened(entry.event, entry.at_s)
        for decision in entry.decisions:
            self._decided(decision, entry.at_s)
        proving = [
            (self._devices[partition], self._jobs[partition.job_id].name)
            for partition, (kind, _) in self._begun.items()
            if kind == "prove"
        ]
        synthesizing = sum(kind == "synthesize" for kind, _ in self._begun.values())
        now = AtWork(entry.at_s, synthesizing, tuple(sorted(proving)))
        if not self.at_work or self.at_work[-1][1:] != now[1:]:
            self.at_work.append(now)

    def _happened(self, event: Event, at_s: float) -> None:
        match event:
            case Submit(job):
                self._jobs[job.id] = self.circuits[job.circuit.name] = job.circuit
            case Loaded(key, size_bytes):
                self._loaded(key, size_bytes, at_s)
            case LoadFailed(key):
                self._loads.pop(key, None)
            case Measured(partition, working_bytes):
                self.measured_bytes[self._jobs[partition.job_id].name].append(working_bytes)
            case Synthesized(partition) | Verified(partition):
                self._end(partition, at_s)
            case QuotientDone(partition):
                self._quotients[partition] = at_s
            case Proved(partition):
                self._quotient_of(partition, at_s)
                self._end(partition, at_s)
                self._begun[partition] = ("verify", at_s)
            case Failed(partition) | DeviceOutOfMemory(partition):
                self._begun.pop(partition, None)

    def _decided(self, decision: Decision, at_s: float) -> None:
        match decision:
            case Load(entry):
                self._loads[entry.key] = (at_s, entry.size_bytes)
            case Synthesize(partition):
                self._begun[partition] = ("synthesize", at_s)
            case Prove(partition, device):
                self._begun[partition] = ("prove", at_s)
                self._devices[partition] = device

    def _end(self, partition: PartitionId, at_s: float) -> None:
        begun = self._begun.pop(partition, None)
        if begun is not None:  # else it was stopped meanwhile
            kind, began_s = begun
            circuit = self._jobs[partition.job_id].name
            self._add(kind, circuit, self._devices.get(partition, ""), began_s, at_s)

    def _quotient_of(self, partition: PartitionId, at_s: float) -> None:
        quotient_s, begun = self._quotients.pop(partition, None), self._begun.get(partition)
        if quotient_s is not None and begun is not None and at_s > begun[1]:
            self.quotient_shares.append((quotient_s - begun[1]) / (at_s - begun[1]))

    def _loaded(self, key: str, size_bytes: int | None, at_s: float) -> None:
        began_s, reserved_bytes = self._loads.pop(key)
        for circuit in self.circuits.values():
            if any(entry.key == key for entry in circuit.entries):
                self._add("load", circuit.name, key, began_s, at_s)
                if size_bytes is not None:
                    loaded, reserved = self.loaded_bytes.get(circuit.name, (0, 0))
                    self.loaded_bytes[circuit.name] = (loaded + size_bytes, reserved + reserved_bytes)

    def _add(self, kind: Kind, circuit: str, device: str, began_s: float, ended_s: float) -> None:
        first = (kind, circuit) not in self._seen
        self._seen.add((kind, circuit))
        self.spans.append(Span(kind, circuit, device, began_s, ended_s, first))


def stages_of(log: Iterable[Entry]) -> Stages:
    """Goes through a log once. Entries are told of as loads of every circuit that needs them."""
    reader = _Reader()
    for entry in log:
        reader.take(entry)
    return Stages(
        tuple(reader.spans),
        tuple(reader.at_work),
        reader.circuits,
        dict(reader.measured_bytes),
        reader.loaded_bytes,
        tuple(reader.quotient_shares),
    )
