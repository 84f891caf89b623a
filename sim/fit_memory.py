"""What partitions hold in each stage, found in the resident memory that a run's monitor saw."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from policy import (
    Circuit,
    Decision,
    DeviceOutOfMemory,
    Event,
    Evict,
    Failed,
    Loaded,
    PartitionId,
    Prove,
    Proved,
    QuotientDone,
    Submit,
    Synthesize,
    Synthesized,
)
from sim.profile import MemoryModel
from sim.spans import Entry

ENOUGH = 40
"""Samples, below which nothing is fitted."""

Sample = tuple[float, int]
"""Seconds and resident bytes."""


class _Holdings:
    """Bytes that count as entries, and as working sets that synthesize, wait or prove."""

    def __init__(self, measured_bytes: dict[str, int]) -> None:
        self._measured_bytes = measured_bytes
        self._circuits: dict[str, Circuit] = {}
        self._entries: dict[str, int] = {}
        self._stages: dict[PartitionId, tuple[int, float]] = {}  # stage and bytes

    def take(self, event: Event, decisions: Sequence[Decision]) -> list[float]:
        match event:
            case Submit(job):
                self._circuits[job.id] = job.circuit
            case Loaded(key, size_bytes):
                self._entries[key] = size_bytes or 0
            case Synthesized(partition):
                self._put(partition, 1, 0.0)
            case QuotientDone(partition):
                circuit = self._circuits[partition.job_id]
                self._put(partition, 2, circuit.phase1_bytes / (circuit.working_bytes or 1))
            case Proved(partition) | Failed(partition) | DeviceOutOfMemory(partition):
                self._stages.pop(partition, None)
        for decision in decisions:
            match decision:
                case Synthesize(partition):
                    self._put(partition, 0, 0.0)
                case Prove(partition):
                    self._put(partition, 2, 0.0)
                case Evict(entry):
                    self._entries.pop(entry.key, None)
        sums = [0.0, 0.0, 0.0]
        for stage, held_bytes in self._stages.values():
            sums[stage] += held_bytes
        return [float(sum(self._entries.values())), *sums]

    def _put(self, partition: PartitionId, stage: int, gone_share: float) -> None:
        circuit = self._circuits[partition.job_id]
        size_bytes = self._measured_bytes.get(circuit.name, circuit.working_bytes)
        self._stages[partition] = (stage, size_bytes * (1 - gone_share))


def fitted_memory(
    runs: Sequence[tuple[Sequence[Entry], Sequence[Sample]]], measured_bytes: dict[str, int]
) -> MemoryModel | None:
    """By least squares over all samples of the runs' logs; None where there are too few.

    Entries count in full, since they hardly come and go in a run and so cannot be told from the base; and
    so does a working set that proves, since what is measured of it is the most that it takes.
    """
    rows: list[list[float]] = []
    seen: list[float] = []
    for log, samples in runs:
        holdings = _Holdings(measured_bytes)
        states = [holdings.take(entry.event, entry.decisions) for entry in log]
        times = [entry.at_s for entry in log]
        for at_s, rss_bytes in samples:
            number = bisect_right(times, at_s) - 1
            if number >= 0 and states[number][0]:
                entries_bytes, synthesizing_bytes, waiting_bytes, proving_bytes = states[number]
                rows.append([1.0, synthesizing_bytes, waiting_bytes])
                seen.append(rss_bytes - entries_bytes - proving_bytes)
    if len(rows) < ENOUGH:
        return None
    scale = max(seen)
    matrix = np.array(rows) / np.array([1.0, scale, scale])
    (_, synthesizing, waiting), *_ = np.linalg.lstsq(matrix, np.array(seen) / scale)
    synthesized = _share(waiting, 1.0)
    return MemoryModel(
        at_start_share=_share(2 * synthesizing - synthesized, synthesized),  # it grows evenly
        synthesized_share=synthesized,
        prove_scratch_share=round(1.0 - synthesized, 3),
    )


def _share(found: float, most: float) -> float:
    return round(min(max(0.0, float(found)), max(0.0, float(most)), 1.0), 3)
