"""What happened on the hosts of a scenario, to be recorded: a run for each start of a host's process."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policy import Limits, PartitionId
from sim.host import SimulatedHost
from sim.log import LogEntry
from sim.profile import MachineProfile
from sim.waits import Causes


@dataclass(frozen=True)
class HostRun:
    """All that happened on one host from a start of its process on, as `sim.record` takes it."""

    name: str
    limits: Limits
    profile: MachineProfile
    settings: Mapping[str, Any]
    log: tuple[LogEntry, ...]
    resident_bytes: tuple[int, ...]
    wait_causes: Mapping[PartitionId, str]
    stage_causes: Mapping[PartitionId, Causes]
    peak_reserved_bytes: int
    end_s: float
    proof_count: int | None


def host_runs(hosts: Sequence[SimulatedHost], settings: Mapping[str, Any]) -> Iterator[HostRun]:
    """Of hosts that have ended, as far as they kept a log; `settings` of the scenario, as JSON values."""
    for host in hosts:
        for number, life in enumerate(host.ended, start=1):
            if (log := life.log) is not None:
                name = host.modelled.name
                yield HostRun(
                    name if number == 1 else f"{name}, start {number}",
                    host.modelled.limits,
                    host.modelled.profile,
                    settings,
                    tuple(log.entries),
                    tuple(log.resident_bytes),
                    log.wait_causes,
                    dict(log.stage_causes.by_partition),
                    life.peak_reserved_bytes,
                    log.entries[-1].at_s if log.entries else 0.0,
                    None,
                )
