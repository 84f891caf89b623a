"""Percentiles of stages and bytes by circuit, device, version and the like, and where waits went."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from db.filters import EVERYTHING, Filter
from db.groups import Group, concatenated, groups
from db.history import History
from db.summaries import COLUMNS

Dimension = Literal["circuit", "device", "version", "week", "day", "host", "source", "state"]
PERCENTILES = (50, 90, 99)


@dataclass(frozen=True)
class StageStatistics:
    """One stage, or bytes, of the partitions of one group: seconds, or bytes where `stage` says so."""

    group: tuple[str, ...]
    stage: str
    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    max: float


@dataclass(frozen=True)
class WaitTotal:
    """Seconds that partitions of a circuit have waited for one cause, all added up."""

    circuit: str
    cause: str
    seconds: float
    partition_count: int
    seconds_a_partition: float


def stage_statistics(
    history: History,
    by: Sequence[Dimension] = ("circuit", "device"),
    where: Filter = EVERYTHING,
    columns: Sequence[str] = COLUMNS,
) -> list[StageStatistics]:
    """For each group, in its order, each of the columns that has a value in it; columns as for groups()."""
    grouped = grouped_by(groups(history, where, columns), by)
    return [
        _statistics(key, column, values)
        for key in sorted(grouped)
        for column in columns
        if len(values := concatenated(grouped[key], column))
    ]


def grouped_by(found: Sequence[Group], by: Sequence[Dimension]) -> dict[tuple[str, ...], list[Group]]:
    """The groups by their values in those dimensions, in the order found."""
    grouped: dict[tuple[str, ...], list[Group]] = defaultdict(list)
    for group in found:
        grouped[tuple(getattr(group, dimension) for dimension in by)].append(group)
    return grouped


def wait_totals(history: History, where: Filter = EVERYTHING) -> list[WaitTotal]:
    """By circuit and cause, the longest first."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for group in groups(history, where, columns=()):
        counts[group.circuit] += group.partition_count
        for cause, waited_s in group.waits_s.items():
            seconds[group.circuit, cause] += waited_s
    totals = [
        WaitTotal(circuit, cause, waited_s, counts[circuit], waited_s / counts[circuit])
        for (circuit, cause), waited_s in seconds.items()
    ]
    return sorted(totals, key=lambda total: -total.seconds)


def _statistics(group: tuple[str, ...], stage: str, values: NDArray[np.float32]) -> StageStatistics:
    p50, p90, p99 = (float(each) for each in np.percentile(values, PERCENTILES))
    mean = float(values.mean(dtype=np.float64))
    return StageStatistics(group, stage, len(values), mean, p50, p90, p99, float(values.max()))
