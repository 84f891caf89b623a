"""Memory over a stage's life: what a process would really hold, beside what its policy has reserved."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from policy import (
    Decision,
    DeviceOutOfMemory,
    Displaced,
    Event,
    Evict,
    Failed,
    Job,
    Load,
    Loaded,
    LoadFailed,
    PartitionId,
    Prove,
    Proved,
    QuotientDone,
    Submit,
    Synthesize,
    Synthesized,
)
from sim.profile import MemoryModel


class Machine(Protocol):
    """What is asked of the machine that is watched."""

    @property
    def synthesized_s(self) -> float:
        """A clock of synthesis: what a partition that had run from the start would have done by now."""

    def synthesis_s(self, partition: PartitionId) -> float:
        """How long the partition's synthesis takes alone."""


class _Held:
    """What a partition holds: `size_bytes`, and `bytes_per_s` more for each second of synthesis done."""

    __slots__ = ("bytes_per_s", "since_s", "size_bytes")

    def __init__(self) -> None:
        self.size_bytes = self.bytes_per_s = self.since_s = 0.0


class ResidentMemory:
    """Watches a machine and adds up what is resident by the profile's memory model.

    An entry is there from its `Load` to its `Evict`. A working set begins with a share of it when synthesis
    does and grows evenly until it ends; phase 1 goes with the quotient, the rest with the proof, and while a
    partition proves it holds scratch memory beside.
    """

    def __init__(
        self,
        machine: Machine,
        model: MemoryModel,
        measured_bytes: Mapping[str, int] | None = None,
        curve: list[int] | None = None,
    ) -> None:
        """`measured_bytes` of working sets by circuit, where they are not what the circuit says.

        `curve`: what is resident after each event is put at its end.
        """
        self._measured_bytes = measured_bytes or {}
        self.peak_bytes = self._recent_peak_bytes = float(model.base)
        self._machine, self._model, self._curve = machine, model, curve
        self._jobs: dict[str, Job] = {}
        self._entries: dict[str, int] = {}
        self._held: dict[PartitionId, _Held] = {}
        self._level_bytes, self._bytes_per_s = float(model.base), 0.0  # of all, with growth as from 0 s on
        self._on: dict[type, Callable[[PartitionId], None]] = {
            Synthesized: self._synthesized,
            QuotientDone: self._quotient_done,
            Proved: self._let_go,
            Failed: self._let_go,
            DeviceOutOfMemory: self._let_go,
            Displaced: self._let_go,
        }

    def take_peak_bytes(self) -> float:
        """The most that was resident since this was last asked."""
        peak_bytes, self._recent_peak_bytes = self._recent_peak_bytes, self.resident_bytes()
        return peak_bytes

    def resident_bytes(self) -> float:
        return self._level_bytes + self._bytes_per_s * self._machine.synthesized_s

    def __call__(self, _at_s: float, event: Event, decisions: Sequence[Decision]) -> None:
        self._note_peak()  # growth since the last event
        if isinstance(event, Submit):
            self._jobs[event.job.id] = event.job
        elif isinstance(event, Loaded) and event.size_bytes is not None:
            self._level_bytes += event.size_bytes - self._entries[event.entry_key]
            self._entries[event.entry_key] = event.size_bytes
        elif isinstance(event, LoadFailed):
            self._level_bytes -= self._entries.pop(event.entry_key)
        elif type(event) in self._on:
            self._on[type(event)](event.partition)  # type: ignore[union-attr]
        for decision in decisions:
            self._decided(decision)
        self._note_peak()
        if self._curve is not None:
            self._curve.append(round(self.resident_bytes()))

    def _note_peak(self) -> None:
        resident_bytes = self._level_bytes + self._bytes_per_s * self._machine.synthesized_s
        if resident_bytes > self._recent_peak_bytes:
            self._recent_peak_bytes = resident_bytes
            if resident_bytes > self.peak_bytes:
                self.peak_bytes = resident_bytes

    def _decided(self, decision: Decision) -> None:
        match decision:
            case Load(entry):
                self._entries[entry.key] = entry.size_bytes
                self._level_bytes += self._entries[entry.key]
            case Evict(entry):
                self._level_bytes -= self._entries.pop(entry.key)
            case Synthesize(partition):
                self._begin(partition)
            case Prove(partition):
                scratch = self._model.prove_scratch_share * self._working_bytes(partition)
                self._set(self._held[partition], self._held[partition].size_bytes + scratch, 0.0)

    def _begin(self, partition: PartitionId) -> None:
        working_bytes, at_start = self._working_bytes(partition), self._model.at_start_share
        alone_s = self._machine.synthesis_s(partition)
        grown = self._model.synthesized_share - at_start
        growth = working_bytes * grown / alone_s if alone_s > 0 else 0.0
        held = self._held[partition] = _Held()
        self._set(held, working_bytes * at_start, growth)

    def _synthesized(self, partition: PartitionId) -> None:
        size_bytes = self._working_bytes(partition) * self._model.synthesized_share
        self._set(self._held[partition], size_bytes, 0.0)

    def _quotient_done(self, partition: PartitionId) -> None:
        held, circuit = self._held[partition], self._jobs[partition.job_id].circuit
        share = circuit.phase1_bytes / circuit.working_bytes if circuit.working_bytes else 0.0
        self._set(held, held.size_bytes - share * self._working_bytes(partition), 0.0)

    def _let_go(self, partition: PartitionId) -> None:
        held = self._held.pop(partition, None)
        if held is not None:
            self._set(held, 0.0, 0.0)

    def _set(self, held: _Held, size_bytes: float, bytes_per_s: float) -> None:
        """From now on it holds so much and grows so fast."""
        now_s = self._machine.synthesized_s
        self._level_bytes -= held.size_bytes - held.bytes_per_s * held.since_s
        self._bytes_per_s += bytes_per_s - held.bytes_per_s
        held.size_bytes, held.bytes_per_s, held.since_s = size_bytes, bytes_per_s, now_s
        self._level_bytes += size_bytes - bytes_per_s * now_s

    def _working_bytes(self, partition: PartitionId) -> int:
        circuit = self._jobs[partition.job_id].circuit
        return self._measured_bytes.get(circuit.name, circuit.working_bytes)
