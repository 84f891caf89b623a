"""A machine in SimPy that executes a policy's decisions: the engine's counterpart, with times for work."""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from simpy import Environment, Interrupt, Process, Resource
from simpy import Event as Signal

from policy import (
    Admit,
    Circuit,
    Complete,
    Decision,
    Entry,
    Event,
    Fail,
    Failed,
    Job,
    Load,
    Loaded,
    PartitionId,
    Policy,
    Prove,
    Proved,
    QuotientDone,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Tick,
    Verified,
    WaitCause,
    WakeAt,
)
from sim.durations import Durations
from sim.profile import MachineProfile
from sim.shared import SharedWork
from sim.waits import StageCauses

Steps = Generator[Signal, Any, None]


@dataclass(frozen=True)
class LogEntry:
    """An event given to the policy, the decisions it made, and the bytes reserved after them."""

    at_s: float
    event: Event
    decisions: tuple[Decision, ...]
    reserved_bytes: int


class SimulatedMachine:
    """Feeds events to the policy, one after the other, and does in simulated time what it decides."""

    def __init__(
        self, env: Environment, policy: Policy, profile: MachineProfile, durations: Durations
    ) -> None:
        self.log: list[LogEntry] = []
        self.wait_causes: dict[PartitionId, str] = {}  # the first of each partition
        self.stage_causes = StageCauses(policy)
        self._env, self._policy, self._profile, self._durations = env, policy, profile, durations
        self._disk = Resource(env, profile.loads_at_once)
        self._synthesis = SharedWork(env, profile.synthesis_slowdown)
        self._devices = {device.name: Resource(env) for device in policy.limits.devices}
        self._events: deque[Event] = deque()
        self._executing = False
        self._loads = 0
        self._ends: dict[str, Signal] = {}
        self._circuits: dict[str, Circuit] = {}  # by the job
        self._loaders: dict[str, Circuit] = {}  # by the entry: the circuit that was the last to need it
        self._at_work: dict[PartitionId, Process] = {}
        self._wake_at_s: float | None = None
        self._actions: dict[type, Callable[[Any], None]] = {
            Load: lambda load: self._start_load(load.entry),
            Synthesize: lambda start: self._start(start.partition, self._synthesize(start.partition)),
            Prove: lambda start: self._start(start.partition, self._prove(start.partition, start.device)),
            Stop: lambda stop: self._stop(stop.partition),
            Complete: self._end,
            Fail: self._end,
            Reject: self._end,
            WakeAt: lambda wake: self._set_timer(wake.at_s),
        }

    def submit(self, job: Job) -> Signal:
        """Hand in a job; the signal fires with the decision that ends it."""
        end = self._ends[job.id] = self._env.event()
        self._circuits[job.id] = job.circuit
        self._loaders.update({entry.key: job.circuit for entry in job.circuit.entries})
        self.send(Submit(job))
        return end

    def send(self, event: Event) -> None:
        """Take an event; while another is executed it waits its turn."""
        self._events.append(event)
        if self._executing:
            return
        self._executing = True
        while self._events:
            self._take(self._events.popleft())
        self._executing = False

    def _take(self, event: Event) -> None:
        decisions = self._policy.handle(event, self._env.now)
        self.log.append(LogEntry(self._env.now, event, tuple(decisions), self._policy.reserved_bytes))
        self._note_waits(event, decisions)
        self.stage_causes.note(decisions)
        for decision in decisions:
            action = self._actions.get(type(decision))
            if action is not None:
                action(decision)

    def _start_load(self, entry: Entry) -> None:
        self._loads += 1
        seconds = self._durations.load_s(entry, self._loaders[entry.key], self._loads)
        self._env.process(self._load(entry, seconds))

    def _load(self, entry: Entry, seconds: float) -> Steps:
        with self._disk.request() as turn:
            yield turn
            yield self._env.timeout(seconds)
        self.send(Loaded(entry.key))

    def _synthesize(self, partition: PartitionId) -> Steps:
        done = self._synthesis.begin(self._seconds("synthesize", partition))
        try:
            yield done
        except Interrupt:
            self._synthesis.abandon(done)
            raise
        del self._at_work[partition]
        self.send(Synthesized(partition))

    def _prove(self, partition: PartitionId, device: str) -> Steps:
        profile, seconds = self._profile, self._seconds("prove", partition)
        yield self._env.timeout(seconds * profile.host_before_share)
        with self._devices[device].request() as turn:
            yield turn
            device_s = seconds * (1 - profile.host_before_share - profile.host_after_share)
            yield self._env.timeout(device_s * profile.quotient_share)
            self.send(QuotientDone(partition))
            yield self._env.timeout(device_s * (1 - profile.quotient_share))
        yield self._env.timeout(seconds * profile.host_after_share)
        self.send(Proved(partition))
        yield self._env.timeout(self._seconds("verify", partition))
        del self._at_work[partition]
        self.send(Verified(partition))

    def _start(self, partition: PartitionId, steps: Steps) -> None:
        self._at_work[partition] = self._env.process(self._until_stopped(partition, steps))

    def _until_stopped(self, partition: PartitionId, steps: Steps) -> Steps:
        try:
            yield from steps
        except Interrupt:
            del self._at_work[partition]
            self.send(Failed(partition, "stopped"))

    def _stop(self, partition: PartitionId) -> None:
        """Work ends where it is; what lies between two stages is simply dropped."""
        if partition in self._at_work:
            self._at_work[partition].interrupt()
        else:
            self.send(Failed(partition, "stopped"))

    def _end(self, decision: Complete | Fail | Reject) -> None:
        self._ends.pop(decision.job_id).succeed(decision)
        del self._circuits[decision.job_id]

    def _set_timer(self, at_s: float) -> None:
        self._wake_at_s = at_s
        timer = self._env.timeout(at_s - self._env.now, at_s)
        timer.callbacks.append(self._tick)

    def _tick(self, timer: Signal) -> None:
        if timer.value == self._wake_at_s:
            self._wake_at_s = None
            self.send(Tick())

    def _seconds(self, stage: Any, partition: PartitionId) -> float:
        return self._durations.stage_s(stage, self._circuits[partition.job_id], partition)

    def _note_waits(self, event: Event, decisions: list[Decision]) -> None:
        """What a partition waits for when it begins to wait; later causes follow from the first."""
        begun = [decision.partition for decision in decisions if isinstance(decision, Admit)]
        if isinstance(event, Submit):
            begun = [PartitionId(event.job.id, index) for index in range(event.job.partitions)]
        elif isinstance(event, Synthesized):
            begun.append(event.partition)
        for partition in begun:
            if partition not in self.wait_causes and self._waits(partition):
                sentence = self._policy.explain(partition)
                self.wait_causes[partition] = sentence.removeprefix(f"{partition} ")

    def _waits(self, partition: PartitionId) -> bool:
        try:
            return self._policy.wait_cause(partition) not in (None, WaitCause.LOAD)
        except KeyError:  # its job has just ended
            return False
