"""Simulating a batch: the real policy on a modelled machine."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from simpy import Event as Signal

from policy import Job, Limits, PartitionId, Reject
from sim.clock import Clock
from sim.durations import Durations
from sim.errors import SimError
from sim.garbage import uncollected
from sim.kinds import BUDGET, policy_of
from sim.log import LogEntry, RunLog
from sim.machine import SimulatedMachine
from sim.profile import MachineProfile
from sim.proving import for_limits
from sim.size import check_size
from sim.waits import Causes
from sim.workload import Batch, ClosedLoop


@dataclass(frozen=True)
class SimulatedRun:
    """All that happened. Times are simulated seconds since the start; the same inputs give the same run.

    `log`, `wait_causes` and `stage_causes` are empty where no log was asked for.
    """

    batch: Batch
    limits: Limits
    profile: MachineProfile
    policy: str
    seed: int
    log: tuple[LogEntry, ...]
    wait_causes: dict[PartitionId, str]
    stage_causes: dict[PartitionId, Causes]
    peak_reserved_bytes: int
    end_s: float

    @property
    def proof_count(self) -> int:
        return self.batch.count

    @property
    def resident_bytes(self) -> tuple[int, ...]:
        """Nobody follows it here."""
        return ()

    @property
    def settings(self) -> dict[str, Any]:
        """As JSON values."""
        batch = self.batch
        return {
            "policy": self.policy,
            "seed": self.seed,
            "circuit": batch.circuit.name,
            "count": batch.count,
            "concurrency": batch.concurrency,
            "partitions": batch.partitions,
            "priority": batch.priority.name.lower(),
        }


@dataclass
class Progress:
    """How far a simulation has got, for another thread to read while it goes on: no clock is asked here."""

    ended_count: int = 0
    at_s: float = 0.0  # simulated
    recorded_rows: int = 0


def simulate(
    batch: Batch,
    limits: Limits,
    profile: MachineProfile,
    *,
    policy: str = BUDGET,
    seed: int = 0,
    progress: Progress | None = None,
    with_log: bool = True,
) -> SimulatedRun:
    """Run the batch to its end under the policy ("budget" or "fixed:N"), and note in `progress` how it goes.

    Without the log it takes half the time, and no more memory the longer it goes on. Raises SimError for a
    batch that the policy rejects, with its reason, or whose times are not known.
    """
    check_size(ClosedLoop((batch,)))
    profile = for_limits(profile, limits)
    constraints = {} if batch.constraints is None else {batch.circuit.name: batch.constraints}
    env = Clock()
    scheduler = policy_of(policy, limits)
    log, progress = RunLog(scheduler), progress or Progress()
    watches = [log] if with_log else []
    machine = SimulatedMachine(env, scheduler, profile, Durations(profile, constraints, seed), watches)
    jobs = batch.jobs()
    for _ in range(min(batch.count, batch.concurrency)):
        env.process(_one_after_another(env, machine, jobs, progress))
    with uncollected():
        env.run()
    assert scheduler.idle, f"the simulation ended at {env.now} s with work left"
    return SimulatedRun(
        batch=batch,
        limits=limits,
        profile=profile,
        policy=policy,
        seed=seed,
        log=tuple(log.entries),
        wait_causes=log.wait_causes,
        stage_causes=dict(log.stage_causes.by_partition),
        peak_reserved_bytes=scheduler.peak_reserved_bytes,
        end_s=progress.at_s,
    )


def _one_after_another(
    env: Clock, machine: SimulatedMachine, jobs: Iterator[Job], progress: Progress
) -> Generator[Signal, Any, None]:
    for job in jobs:
        end = yield machine.submit(job)
        if isinstance(end, Reject):
            raise SimError(f"{end.job_id} was rejected: {end.why}")
        progress.ended_count += 1
        progress.at_s = env.now
