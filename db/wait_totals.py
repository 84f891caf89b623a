"""Where waits went: seconds by circuit and cause."""

from collections import defaultdict
from dataclasses import dataclass

from db.filters import EVERYTHING, Filter
from db.groups import groups
from db.history import History


@dataclass(frozen=True)
class WaitTotal:
    """Seconds that partitions of a circuit have waited for one cause, all added up."""

    circuit: str
    cause: str
    seconds: float
    partition_count: int
    seconds_a_partition: float


def wait_totals(history: History, where: Filter = EVERYTHING) -> list[WaitTotal]:
    """By circuit and cause, the longest first."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for group in groups(history, where, waits=True):
        counts[group.circuit] += group.partition_count
        for cause, waited_s in group.waits_s.items():
            seconds[group.circuit, cause] += waited_s
    totals = [
        WaitTotal(circuit, cause, waited_s, counts[circuit], waited_s / counts[circuit])
        for (circuit, cause), waited_s in seconds.items()
    ]
    return sorted(totals, key=lambda total: -total.seconds)
