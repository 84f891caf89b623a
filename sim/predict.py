"""The figures of a run, recorded or simulated, that are compared with each other."""

from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from simpy import Event as Signal

from policy import Complete, Job, Limits, Reject, Submit, Synthesize
from sim.clock import Clock
from sim.durations import Durations
from sim.errors import SimError
from sim.garbage import uncollected
from sim.kinds import BUDGET, policy_of
from sim.log import RunLog
from sim.machine import SimulatedMachine
from sim.profile import MachineProfile
from sim.proving import for_limits
from sim.requests import Requests
from sim.resident import ResidentMemory
from sim.spans import Entry, stages_of

Figures = dict[str, float]
"""By name, units in the names; latency_s and the stages' are means of a proof and of a partition."""

SEEDS = 5


@dataclass(frozen=True)
class Simulated:
    """A simulation of requests: its log and the memory it would have taken."""

    log: RunLog
    peak_reserved_bytes: int
    peak_rss_bytes: float


def simulate_requests(
    requests: Requests,
    limits: Limits,
    profile: MachineProfile,
    *,
    policy: str = BUDGET,
    seed: int = 0,
    constraints: dict[str, int] | None = None,
) -> Simulated:
    """The requests on a modelled machine. Raises SimError for one that is rejected or has no times."""
    profile = for_limits(profile, limits)
    env, scheduler = Clock(), policy_of(policy, limits)
    log = RunLog(scheduler)
    machine = SimulatedMachine(env, scheduler, profile, Durations(profile, constraints or {}, seed), [log])
    memory = ResidentMemory(machine, profile.memory, profile.measured_bytes)
    machine.watch(memory)
    jobs = iter(requests.jobs)
    if requests.concurrency is None:
        env.process(_arrivals(env, machine, requests))
    else:
        for _ in range(min(requests.concurrency, len(requests.jobs))):
            env.process(_closed(machine, jobs))
    with uncollected():
        env.run()
    return Simulated(log, scheduler.peak_reserved_bytes, memory.peak_bytes)


def _closed(machine: SimulatedMachine, jobs: Iterator[Job]) -> Generator[Signal, Any, None]:
    for job in jobs:
        end = yield machine.submit(job)
        if isinstance(end, Reject):
            raise SimError(f"{end.job_id} was rejected: {end.why}")


def _arrivals(env: Clock, machine: SimulatedMachine, requests: Requests) -> Generator[Signal, Any, None]:
    for job, at_s in zip(requests.jobs, requests.at_s, strict=True):
        yield env.timeout(max(0.0, at_s - env.now))
        machine.submit(job)


def predict(
    requests: Requests,
    limits: Limits,
    profile: MachineProfile,
    *,
    policy: str = BUDGET,
    constraints: dict[str, int] | None = None,
) -> Figures:
    """The median of each figure over some seeds."""
    found: dict[str, list[float]] = defaultdict(list)
    for seed in range(SEEDS):
        run = simulate_requests(requests, limits, profile, policy=policy, seed=seed, constraints=constraints)
        figures = figures_of(run.log.entries, run.peak_reserved_bytes, run.peak_rss_bytes)
        for name, value in figures.items():
            found[name].append(value)
    return {name: median(values) for name, values in found.items()}


def figures_of(
    log: Sequence[Entry], peak_reserved_bytes: float | None, peak_rss_bytes: float | None
) -> Figures:
    """Of any log of a run that went well. Times count from the first proof that was handed in."""
    submitted: dict[str, float] = {}
    latencies_s: list[float] = []
    ended_s = 0.0
    for entry in log:
        if isinstance(entry.event, Submit):
            submitted[entry.event.job.id] = entry.at_s
        for decision in entry.decisions:
            if isinstance(decision, Complete):
                latencies_s.append(entry.at_s - submitted[decision.job_id])
                ended_s = entry.at_s
    makespan_s = ended_s - min(submitted.values())
    figures = {
        "makespan_s": makespan_s,
        "seconds_per_proof": makespan_s / len(submitted),
        "latency_s": fmean(latencies_s),
    }
    if peak_rss_bytes is not None:
        figures["peak_rss_bytes"] = peak_rss_bytes
    if peak_reserved_bytes is not None:
        figures["peak_reserved_bytes"] = peak_reserved_bytes
    return figures | _stage_figures(log)


def _stage_figures(log: Sequence[Entry]) -> Figures:
    seconds: dict[str, list[float]] = defaultdict(list)
    for span in stages_of(log).spans:
        if span.kind != "load":
            seconds[f"{span.kind}_s[{span.circuit}]"].append(span.seconds)
    return {name: fmean(values) for name, values in sorted(seconds.items())}


def first_synthesis_s(log: Sequence[Entry]) -> float:
    """When the first partition begins to synthesize: whoever had all in memory would have begun then."""
    return next(entry.at_s for entry in log if any(isinstance(each, Synthesize) for each in entry.decisions))
