"""A machine in SimPy that executes a policy's decisions: the engine's counterpart, with times for work."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from simpy import Event as Signal
from simpy import Resource

from policy import (
    Admit,
    Circuit,
    Complete,
    Decision,
    Device,
    DeviceLost,
    Displaced,
    Entry,
    Event,
    Evict,
    EvictFromDevice,
    Fail,
    Failed,
    Job,
    Load,
    Loaded,
    PartitionId,
    Policy,
    Prove,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Tick,
    Upload,
    WakeAt,
)
from sim.bound import WorkDone
from sim.clock import Clock
from sim.contention import synthesis_stretch
from sim.device import HostWork, Processors, Proving, ProvingDevice, SerialDevice
from sim.durations import Durations, JobTimes
from sim.hardware import on_processors
from sim.profile import MachineProfile
from sim.shared import Piece, SharedWork

Watch = Callable[[float, Event, Sequence[Decision]], None]
"""Called with the time after each event, before the decisions are executed."""


class Halted:
    """In the place of a policy that has died."""

    def handle(self, _event: Event, _now_s: float) -> list[Decision]:
        return []


class SimulatedMachine:
    """Feeds events to the policy, one after the other, and does in simulated time what it decides."""

    def __init__(
        self,
        env: Clock,
        policy: Policy,
        profile: MachineProfile,
        durations: Durations,
        watches: Sequence[Watch] = (),
    ) -> None:
        self._env, self._profile, self._durations = env, profile, durations
        self._policy: Policy | Halted = policy
        self._watches = [*watches]
        self._disk = Resource(env, profile.loads_at_once)
        self._synthesis = SharedWork(env, synthesis_stretch(profile.synthesis_slowdown, profile.cores))
        self._host_work = HostWork(profile, self._synthesis)
        self._at_work: dict[PartitionId, Piece | tuple[ProvingDevice, Proving]] = {}
        self._devices = {device.name: self._device(device, profile) for device in policy.limits.devices}
        self._pcie_bytes_per_s = profile.pcie_bytes_per_s
        self._sent_s: dict[str, float] = {}  # by the device: when all that was to be sent there is there
        self._events: deque[Event] = deque()
        self._executing = False
        self._loads = 0
        self._ends: dict[str, Signal] = {}
        self._times: dict[str, JobTimes] = {}  # by the job
        self._circuits: dict[str, Circuit] = {}  # by the job
        self.work = WorkDone()
        self._loaders: dict[str, Circuit] = {}  # by the entry: the circuit that was the last to need it
        self._wake_at_s: float | None = None
        self._actions: dict[type, Callable[[Any], None] | None] = {
            Evict: None,
            Admit: None,
            Load: self._start_load,
            Synthesize: self._synthesize,
            EvictFromDevice: None,
            Upload: self._upload,
            Prove: self._prove,
            Stop: self._stop,
            Complete: self._end,
            Fail: self._end,
            Reject: self._end,
            WakeAt: self._set_timer,
        }

    def _device(self, device: Device, profile: MachineProfile) -> ProvingDevice:
        ended = self._at_work.__delitem__
        if profile.cores is None or not on_processors(device):
            return SerialDevice(self._env, profile, self.send, ended, self._host_work)
        return Processors(self._env, profile, self.send, ended, profile.cores, self._synthesis)

    def watch(self, watch: Watch) -> None:
        """Call it from now on."""
        self._watches.append(watch)

    @property
    def synthesized_s(self) -> float:
        """A clock of synthesis: what a partition that had run from the start would have done by now."""
        return self._synthesis.done_s

    def synthesis_s(self, partition: PartitionId) -> float:
        """How long the partition's synthesis takes alone."""
        return self._times[partition.job_id].synthesize_s[partition.index]

    def submit(self, job: Job) -> Signal:
        """Hand in a job; the signal fires with the decision that ends it."""
        end = self._ends[job.id] = self._env.event()
        self._times[job.id] = self._durations.draw(job)
        self._circuits[job.id] = job.circuit
        for entry in job.circuit.entries:
            self._loaders[entry.key] = job.circuit
        self.send(Submit(job))
        return end

    def send(self, event: Event) -> None:
        """Take an event; while another is executed it waits its turn."""
        events = self._events
        if self._executing:
            events.append(event)
            return
        self._executing = True
        now_s, actions = self._env.now, self._actions
        while True:
            decisions = self._policy.handle(event, now_s)
            for watch in self._watches:
                watch(now_s, event, decisions)
            for decision in decisions:
                action = actions[type(decision)]
                if action is not None:
                    action(decision)
            if not events:
                break
            event = events.popleft()
        self._executing = False

    def fail(self, partition: PartitionId, why: str) -> None:
        """Its work ends where it is, with an error; what lies between two stages is simply dropped."""
        self._abandon(partition)
        self.send(Failed(partition, why))

    def lose_device(self, name: str) -> None:
        """It makes no more proofs, and what it was proving is displaced; what is only checked goes on."""
        self.send(DeviceLost(name))
        lost = self._devices[name]
        for partition, work in list(self._at_work.items()):
            if isinstance(work, tuple) and work[0] is lost and not work[1].proved:
                self._abandon(partition)
                self.send(Displaced(partition))

    def _abandon(self, partition: PartitionId) -> None:
        work = self._at_work.pop(partition, None)
        if isinstance(work, Piece):
            self._synthesis.abandon(work)
        elif work is not None:
            device, proving = work
            device.stop(proving)

    def halt(self) -> None:
        """The process dies: nothing is told or done any more."""
        self._policy, self._watches = Halted(), []
        self._events.clear()

    @property
    def devices_busy_s(self) -> float:
        """For which devices had something to do, all together."""
        return sum(device.busy_s for device in self._devices.values())

    def _start_load(self, load: Load) -> None:
        self._loads += 1
        entry = load.entry
        self._env.process(
            self._load(entry, *self._durations.load_time(entry, self._loaders[entry.key], self._loads))
        )

    def _load(self, entry: Entry, disk_s: float, mapped_s: float) -> Generator[Signal, Any, None]:
        if disk_s:
            with self._disk.request() as turn:
                yield turn
                yield self._env.timeout(disk_s)
        if mapped_s:
            yield self._env.timeout(mapped_s)
        if isinstance(self._policy, Halted):
            return
        self._durations.page_cache.was_read(entry.key, entry.size_bytes)
        times = self._profile.circuits.get(self._loaders[entry.key].name)
        share = 1.0 if times is None else times.loaded_share
        self.send(Loaded(entry.key, None if share == 1 else int(entry.size_bytes * share)))

    def _synthesize(self, start: Synthesize) -> None:
        partition = start.partition
        job_id, index = partition
        alone_s = self._times[job_id].synthesize_s[index]
        self._at_work[partition] = self._synthesis.begin(alone_s, self._synthesized, partition)

    def _synthesized(self, partition: PartitionId) -> None:
        del self._at_work[partition]
        self.send(Synthesized(partition))

    def _prove(self, start: Prove) -> None:
        partition, device = start.partition, self._devices[start.device]
        job_id, index = partition
        _, prove_s, verify_s, working_bytes = self._times[job_id]
        proving = Proving(partition, prove_s[index], verify_s[index], working_bytes)
        self._at_work[partition] = (device, proving)
        sent_s = self._sent_s.get(start.device, 0.0) if self._sent_s else 0.0
        if sent_s > self._env.now:
            self._env.call_in(sent_s - self._env.now, self._sent, (device, proving))
        else:
            device.prove(proving)

    def _upload(self, upload: Upload) -> None:
        """One after the other; whoever comes to the device meanwhile waits for it."""
        if self._pcie_bytes_per_s is not None:
            began_s = max(self._env.now, self._sent_s.get(upload.device, 0.0))
            self._sent_s[upload.device] = began_s + upload.entry.size_bytes / self._pcie_bytes_per_s

    def _sent(self, sent: tuple[ProvingDevice, Proving]) -> None:
        device, proving = sent
        if not proving.stopped:
            device.prove(proving)

    def _stop(self, stop: Stop) -> None:
        self.fail(stop.partition, "stopped")

    def _end(self, decision: Complete | Fail | Reject) -> None:
        times = self._times.pop(decision.job_id)
        circuit = self._circuits.pop(decision.job_id)
        if isinstance(decision, Complete):
            self.work.take(circuit, times)
        self._ends.pop(decision.job_id).succeed(decision)

    def _set_timer(self, wake: WakeAt) -> None:
        self._wake_at_s = wake.at_s
        self._env.call_in(wake.at_s - self._env.now, self._tick, wake.at_s)

    def _tick(self, at_s: float) -> None:
        if at_s == self._wake_at_s:
            self._wake_at_s = None
            self.send(Tick())
