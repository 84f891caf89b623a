"""One host of a simulated cluster: its policy and its machine, which may die and begin anew."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from simpy import Event as Signal

from policy import Circuit, Entry, Event, Job, Proved, Reject, Submit, Synthesized
from sim.bound import speed_of_light_s
from sim.clock import Clock
from sim.durations import Durations, LoadTime
from sim.faults import Faults
from sim.hosts import ModelledHost
from sim.kinds import BUDGET, policy_of
from sim.log import RunLog
from sim.machine import SimulatedMachine, Watch
from sim.meter import Meter
from sim.page_cache import PageCache
from sim.resident import ResidentMemory


class HostDurations(Durations):
    """Times of one host, whose disk is slow at times."""

    disk_factor = 1.0

    def load_time(self, entry: Entry, circuit: Circuit, number: int) -> LoadTime:
        disk_s, mapped_s = super().load_time(entry, circuit, number)
        return LoadTime(disk_s * self.disk_factor, mapped_s)


class FaultyMachine(SimulatedMachine):
    """A machine on which a share of syntheses and proofs fail at their end."""

    def __init__(self, *arguments: Any, share: float, random: Random) -> None:
        super().__init__(*arguments)
        self._share, self._random = share, random

    def send(self, event: Event) -> None:
        if isinstance(event, Synthesized | Proved) and self._random.random() < self._share:
            self.fail(event.partition, "a stage failed, as the seed would have it")
        else:
            super().send(event)


@dataclass(frozen=True)
class Life:
    """What a host did from a start of its process to its end; `least_s`: see `sim.bound`."""

    meter: Meter
    log: RunLog | None
    peak_reserved_bytes: int
    peak_resident_bytes: float
    devices_busy_s: float
    least_s: float


class SimulatedHost:
    """Takes jobs while it is up; `watch` sees every event after the host's own meter."""

    def __init__(
        self,
        env: Clock,
        modelled: ModelledHost,
        kind: str,
        constraints: Mapping[str, int],
        seed: int,
        faults: Faults,
        with_log: bool,
        watch: Watch,
    ) -> None:
        """`constraints` by the circuit's name; `kind` is that of `policy_of`."""
        self.modelled, self.ended = modelled, list[Life]()
        self._env, self._kind, self._faults, self._with_log, self._watch = env, kind, faults, with_log, watch
        self._seed = f"{seed}/{modelled.name}"
        self._random = Random(f"{self._seed}/stages")
        self.durations = HostDurations(modelled.profile, dict(constraints), self._seed)
        self.durations.page_cache = PageCache(modelled.memory_bytes)
        self.start()

    def start(self) -> None:
        """A new process, with nothing in memory."""
        self.up, self.policy = True, policy_of(self._kind, self.modelled.limits)
        self.meter, self._log = Meter(self.policy), RunLog(self.policy) if self._with_log else None
        self.meter.begin(self._env.now)
        self.devices = {device.name for device in self.modelled.limits.devices}  # that are not lost
        watches = [each for each in (self._log, self.meter, self._watch) if each is not None]
        arguments = (self._env, self.policy, self.modelled.profile, self.durations, watches)
        if self._faults.stage_failures:
            self.machine: SimulatedMachine = FaultyMachine(
                *arguments, share=self._faults.stage_failures, random=self._random
            )
        else:
            self.machine = SimulatedMachine(*arguments)
        profile = self.modelled.profile
        curve = None if self._log is None else self._log.resident_bytes
        self._resident = ResidentMemory(self.machine, profile.memory, profile.measured_bytes, curve)
        self.machine.watch(self._resident)
        self.durations.page_cache.most_taken_bytes = self._resident.take_peak_bytes

    def die(self, counted_until_s: float = 0.0) -> None:
        """The process ends with all its work, which it does not report.

        What it was limited by is counted until now, or longer where it would have gone on idle.
        """
        self.up = False
        self.durations.page_cache.make_room()
        self.machine.halt()
        self.meter.close(max(self._env.now, counted_until_s))
        self.ended.append(
            Life(
                self.meter,
                self._log,
                self.policy.peak_reserved_bytes,
                self._resident.peak_bytes,
                self.machine.devices_busy_s,
                self._least_s(),
            )
        )

    def _least_s(self) -> float:
        modelled, in_budget = self.modelled, self._kind == BUDGET
        return speed_of_light_s(self.machine.work, modelled.limits, modelled.profile, in_budget=in_budget)

    def submit(self, job: Job) -> Signal:
        """Hand in a job; the signal fires with the decision that ends it."""
        return self.machine.submit(job)

    def refusal(self, circuit: Circuit) -> str | None:
        """Why the host can never prove a partition of the circuit, if so."""
        policy = policy_of(self._kind, self.modelled.limits)
        answers = policy.handle(Submit(Job("a first one", circuit)), 0.0)
        return next((answer.why for answer in answers if isinstance(answer, Reject)), None)
