"""A workload on modelled hosts, played once by a seed: the real policy on each host, and what comes of it."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from simpy import Event as Signal

from policy import Job
from sim.answers import (
    Answers,
    Figures,
    Outcomes,
    deadline_figures,
    latency_figures,
    over_budget,
    resource_figures,
)
from sim.clock import Clock
from sim.cluster import Cluster, Ticket
from sim.errors import SimError
from sim.faults import Faults
from sim.garbage import uncollected
from sim.host import SimulatedHost
from sim.host_runs import HostRun, host_runs
from sim.hosts import ModelledHost
from sim.kinds import BUDGET
from sim.run import Progress
from sim.size import check_size
from sim.trouble import bring_trouble
from sim.verdict import Backlog, load_of
from sim.words import quantity
from sim.workload import OpenLoop, Request, Workload

NO_FAULTS = Faults()
DAY_S = 86_400.0


@dataclass(frozen=True)
class Scenario:
    """What is asked. `cost` of the machine, in any currency; `settings`: what sets it apart from others.

    `most_late_share`: of the deadlines of a circuit; as soon as more are missed, the run is given up.
    """

    workload: Workload
    hosts: tuple[ModelledHost, ...]
    policy: str = BUDGET
    faults: Faults = NO_FAULTS
    cost: float | None = None
    settings: Mapping[str, Any] | None = None
    most_late_share: float = 1.0


@dataclass(frozen=True)
class Played:
    """The answers, and each host's run where a log was asked for."""

    answers: Answers
    runs: tuple[HostRun, ...]


def play(
    scenario: Scenario, seed: int, *, with_log: bool = False, progress: Progress | None = None
) -> Played:
    """Play the workload to its end, and note in `progress` how it goes.

    Proofs of an open loop that take as long again as all arrivals, and a day more, are given up.
    Raises SimError for a circuit that fits no host or whose times are not known, and for too much work.
    """
    return _Play(scenario, seed, with_log, progress or Progress()).play()


def refusal(scenario: Scenario) -> str | None:
    """Why the scenario cannot be played, if so: a circuit fits no host or has no times, or it is too much."""
    try:
        _Play(scenario, 0, False, Progress()).check_times()
    except SimError as error:
        return str(error)
    return None


class _Play:
    def __init__(self, scenario: Scenario, seed: int, with_log: bool, progress: Progress) -> None:
        check_size(scenario.workload)
        self._scenario, self._seed, self._progress = scenario, seed, progress
        self._env = Clock()
        self._finished = self._env.event()
        self._outcomes = Outcomes()
        self._left = 0
        self._most_missed: dict[str, float] = {}  # by circuit, where a run may be given up
        workload = scenario.workload
        self._duration_s = workload.duration_s if isinstance(workload, OpenLoop) else float("inf")
        self._backlog = Backlog(workload.duration_s) if isinstance(workload, OpenLoop) else None
        self._cluster = Cluster(self._env, scenario.faults.retries)
        if self._backlog is not None:
            self._cluster.on_unfinished = self._backlog.change
        circuits = workload.circuits
        constraints = {
            name: each.constraints for name, each in circuits.items() if each.constraints is not None
        }
        self._cluster.hosts += [
            SimulatedHost(
                self._env,
                host,
                scenario.policy,
                constraints,
                seed,
                scenario.faults,
                with_log,
                self._cluster.watch,
            )
            for host in scenario.hosts
        ]
        self._cluster.check([each.shape for each in circuits.values()])
        bring_trouble(self._env, self._cluster, scenario.faults, seed)

    def check_times(self) -> None:
        """Raises SimError where a circuit has none."""
        for circuit in self._scenario.workload.circuits.values():
            for host in self._cluster.hosts:
                host.durations.draw(Job("a first one", circuit.shape))

    def play(self) -> Played:
        workload = self._scenario.workload
        ends: list[Signal] = [self._finished]
        if isinstance(workload, OpenLoop):
            self._arrive(workload)
            ends.append(self._env.timeout(2 * workload.duration_s + DAY_S))
        else:
            self._left = workload.proof_count
            for concurrency, requests in workload.requests():
                for _ in range(concurrency):
                    self._next(requests)
        with uncollected():
            self._env.run(until=self._env.any_of(ends))
        # Shares of time are of all the time in which proofs might have arrived, not until the last of them.
        until_s = workload.duration_s if isinstance(workload, OpenLoop) and not self._left else 0.0
        for host in self._cluster.hosts:
            if host.up:
                host.die(until_s)
        settings = {"policy": self._scenario.policy, "seed": self._seed, "loop": workload.loop}
        runs = host_runs(self._cluster.hosts, {**settings, **(self._scenario.settings or {})})
        return Played(self._answers(), tuple(runs))

    def _arrive(self, workload: OpenLoop) -> None:
        counts = workload.counts(self._seed)
        self._left = sum(counts)
        if not self._left:
            span = quantity("duration_s", workload.duration_s)
            raise SimError(f"nothing arrives in {span}; give a longer duration")
        if self._scenario.most_late_share < 1:
            due: Counter[str] = Counter()
            for each, count in zip(workload.arrivals, counts, strict=True):
                if each.deadline_s is not None:
                    due[each.circuit.shape.name] += count
            share = self._scenario.most_late_share
            self._most_missed = {name: count * share for name, count in due.items()}
        self._env.process(self._arrivals(workload.requests(self._seed)))

    def _arrivals(self, requests: Iterator[tuple[float, Request]]) -> Generator[Signal, Any, None]:
        for at_s, request in requests:
            if at_s > self._env.now:
                yield self._env.timeout(at_s - self._env.now)
            self._outcomes.wait_for(request, self._env.now)
            self._cluster.submit(request, self._done)

    def _next(self, requests: Iterator[Request]) -> None:
        """The stream's next proof, and after it the one after."""

        def done(ticket: Ticket, succeeded: bool) -> None:
            self._done(ticket, succeeded)
            self._next(requests)

        request = next(requests, None)
        if request is not None:
            self._cluster.submit(request, done)

    def _done(self, ticket: Ticket, succeeded: bool) -> None:
        self._outcomes.take(ticket, succeeded, self._env.now, self._duration_s)
        self._progress.ended_count += 1
        self._progress.at_s = self._env.now
        self._left -= 1
        name = ticket.request.circuit.name
        hopeless = self._outcomes.missed.get(name, 0) > self._most_missed.get(name, inf)
        if (hopeless or not self._left) and not self._finished.triggered:
            self._finished.succeed()

    def _answers(self) -> Answers:
        workload, outcomes, hosts = self._scenario.workload, self._outcomes, self._cluster.hosts
        outcomes.close(self._env.now)
        self._cluster.count_away()
        end_s = outcomes.last_s if not self._left else self._env.now
        figures = resource_figures(hosts, self._cluster.away_s)
        span_s = self._duration_s if isinstance(workload, OpenLoop) else end_s
        done = outcomes.done_in_time if isinstance(workload, OpenLoop) else outcomes.succeeded
        figures |= {
            "makespan_s": end_s - (outcomes.first_s or 0.0),
            "proofs": float(outcomes.succeeded),
            "proofs_failed": float(outcomes.failed),
            "proofs_unfinished": float(self._left),
            "proofs_retried": float(self._cluster.retried),
            "proofs_an_hour": done / span_s * 3600 if span_s else 0.0,
        }
        load = None
        if self._backlog is not None:
            self._backlog.change(self._duration_s, 0)
            left_s = float("inf") if self._left else end_s - self._duration_s
            unbegun = figures["unbegun_share"]
            means = self._backlog.means
            load = load_of(means, left_s, self._duration_s, outcomes.alone_s, unbegun)
        elif outcomes.succeeded:
            figures["seconds_a_proof"] = end_s / outcomes.succeeded
        figures |= self._by_circuit(load == "overloaded")
        return Answers(workload.loop, self._seed, load, over_budget(hosts), figures)

    def _by_circuit(self, overloaded: bool) -> Figures:
        """Where more arrives than is done, latencies tell of the run's length alone: there are none."""
        deadlines = deadline_figures(self._outcomes)
        return deadlines if overloaded else latency_figures(self._outcomes) | deadlines
