"""How much a workload is, before it is simulated: what would never end is refused, what is long is told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sim.arrivals import Trace
from sim.errors import SimError
from sim.words import quantity
from sim.workload import OpenLoop, Workload

MOST_PARTITIONS = 20_000_000
"""Of one run. A million take some minutes."""
PARTITIONS_A_SECOND = 5_000
"""About what a core simulates, at least: where many wait, and on several hosts, it is slowest."""
RECORDED_A_SECOND = 1_200
"""Of a run that is kept: its log is made, and some twenty rows a partition are written."""
LONG_S = 60
MOST_KEPT = 300_000
"""Partitions of a run that is kept in the history, where a million would take gigabytes."""


@dataclass(frozen=True)
class Size:
    """About how many proofs of a circuit there are, and of how many partitions in all."""

    circuit: str
    proofs: float
    partitions: float


def sizes_of(workload: Workload) -> list[Size]:
    """Of each of its arrivals or batches."""
    if not isinstance(workload, OpenLoop):
        return [
            Size(each.circuit.name, each.count, each.count * each.partitions) for each in workload.batches
        ]
    found = []
    for each in workload.arrivals:
        proofs = each.count * each.at.about(workload.duration_s, workload.start)
        partitions = each.partitions or each.circuit.partitions
        found.append(Size(each.circuit.shape.name, proofs, proofs * partitions))
    return found


def check_size(workload: Workload) -> None:
    """Raises SimError for one that nobody would live to see."""
    sizes = sizes_of(workload)
    if sum(each.partitions for each in sizes) <= MOST_PARTITIONS:
        return
    most = max(sizes, key=lambda each: each.partitions)
    change = "a shorter duration, or rarer arrivals" if isinstance(workload, OpenLoop) else "a smaller count"
    raise SimError(
        f"the workload has about {most.proofs:,.0f} proofs of {most.circuit} in {most.partitions:,.0f} "
        f"partitions, expected at most {MOST_PARTITIONS:,} partitions in a run; give it {change}"
    )


def is_kept(workload: Workload) -> bool:
    """Whether a run of it is small enough for the history, and so for pictures."""
    return sum(each.partitions for each in sizes_of(workload)) <= MOST_KEPT


def warnings(workloads: Sequence[Workload], runs_each: int, recorded_each: int = 0) -> list[str]:
    """What should be known before each of them is simulated `runs_each` times, and so many runs are kept."""
    partitions = sum(each.partitions for workload in workloads for each in sizes_of(workload))
    about_s = partitions * (runs_each / PARTITIONS_A_SECOND + recorded_each / RECORDED_A_SECOND)
    runs = runs_each * len(workloads)
    counted = f"{runs:,} run{'' if runs == 1 else 's'}"
    found = [line for workload in workloads for line in _cut_off(workload)]
    if about_s > LONG_S:
        found.append(
            f"about {partitions / len(workloads):,.0f} partitions a run, {counted}: "
            f"may take some {about_s / 60:,.0f} min of processor time"
        )
    return list(dict.fromkeys(found))


def _cut_off(workload: Workload) -> Iterator[str]:
    """Proofs of a trace that come after the workload's duration."""
    if not isinstance(workload, OpenLoop):
        return
    for each in workload.arrivals:
        recorded = each.at.at_s if isinstance(each.at, Trace) else ()
        if after := sum(at_s >= workload.duration_s for at_s in recorded):
            yield (
                f"{after:,} of the {len(recorded):,} arrivals of {each.circuit.shape.name} in its trace "
                f"come after the duration of {quantity('duration_s', workload.duration_s)}, and are left out"
            )
