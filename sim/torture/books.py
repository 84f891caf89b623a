"""What the machine holds, added up from events and decisions alone: the checker's own account of a run.

It shares nothing with the policy but the messages, so that a fault in the policy's bookkeeping shows.
`sim.torture.rules` says what must hold in it.
"""

from collections.abc import Callable, Iterable
from typing import Any

from policy import (
    Admit,
    Cancel,
    Circuit,
    Complete,
    Decision,
    Device,
    Entry,
    Event,
    Evict,
    Fail,
    Failed,
    Job,
    Limits,
    Load,
    Loaded,
    LoadFailed,
    PartitionId,
    Prove,
    Proved,
    QuotientDone,
    Reject,
    Resized,
    Shared,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Tick,
    Verified,
    WakeAt,
)
from sim.torture.line import Line
from sim.torture.violation import expect


class Stored:
    """An entry that loads or is in memory; `users` are admitted partitions that have no proof yet."""

    __slots__ = ("entry", "idle_since_s", "loading", "users")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.loading = True
        self.users = 0
        self.idle_since_s = 0.0


class Held:
    """An admitted partition: how far it is ("admitted", "synthesizing", "synthesized", "proving", "quotient",
    "proved") and what it holds.
    """

    __slots__ = ("at", "circuit", "device", "host_bytes", "id", "job", "keys", "passed", "stopping")

    def __init__(self, job: "Running", partition: PartitionId, host_bytes: int) -> None:
        self.id = partition
        self.job = job
        self.circuit: Circuit = job.job.circuit
        self.host_bytes = host_bytes
        self.keys = tuple([entry.key for entry in self.circuit.entries])
        self.at = "admitted"
        self.device: HeldDevice | None = None
        self.stopping = False
        self.passed = 0  # by others that got a device


class Running:
    """A job that was taken and has not ended."""

    __slots__ = ("failing", "job", "live", "verified")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.live: dict[PartitionId, Held] = {}
        self.verified = 0
        self.failing = False


class HeldDevice:
    """A device's workers and own memory in use."""

    __slots__ = ("busy", "device", "used_bytes")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.busy = 0
        self.used_bytes = 0

    def needs(self, circuit: Circuit) -> int:
        return 0 if self.device.memory_bytes is None else circuit.device_bytes

    def free_for(self, circuit: Circuit) -> bool:
        own_bytes = self.device.memory_bytes
        fits = own_bytes is None or self.used_bytes + circuit.device_bytes <= own_bytes
        return fits and self.busy < self.device.workers


class Books:
    """`happen` takes an event, as it is on the machine before the policy answers; `execute` a decision."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.now_s = 0.0
        self.host_bytes = 0
        self.limit_bytes = limits.budget_bytes  # the budget, or this process's share of it
        self.share_bytes: int | None = None
        self.ceiling_bytes = limits.budget_bytes  # above the limit only after it was lowered
        self.wake_at_s: float | None = None
        self.line = Line(limits)
        self.jobs: dict[str, Running] = {}
        self.partitions: dict[PartitionId, Held] = {}
        self.admitted: dict[PartitionId, Held] = {}  # those that load or wait for a synthesis slot
        self.queue: dict[PartitionId, Held] = {}  # those that wait for a device
        self.synthesizing = 0
        self.holding = 0  # partitions with a working set
        self.stored: dict[str, Stored] = {}
        self.idle: dict[str, Stored] = {}  # the longest idle first
        self.idle_bytes = 0
        self.loading = 0
        self.devices = {device.name: HeldDevice(device) for device in limits.devices}
        self.idle_workers = sum(device.workers for device in limits.devices)
        self.failed_now: list[Running] = []  # jobs that began to fail with the last event
        self.ended_now: Running | None = None  # the job whose partition ended with the last event
        self.happenings: dict[type, Callable[[Any], None]] = {
            Submit: self._submit,
            Loaded: self._loaded,
            LoadFailed: self._load_failed,
            Synthesized: self._synthesized,
            QuotientDone: self._quotient_done,
            Proved: self._proved,
            Verified: self._verified,
            Failed: self._failed,
            Cancel: self._cancel,
            Resized: self._resized,
            Shared: self._shared,
            Tick: self._tick,
        }
        self.executions: dict[type, Callable[[Any], None]] = {
            Stop: self._stop,
            Evict: self._evict,
            Admit: self._admit,
            Load: self._load,
            Synthesize: self._synthesize,
            Prove: self._prove,
            Complete: self._end,
            Fail: self._end,
            Reject: self._end,
            WakeAt: self._wake_at,
        }

    def happen(self, event: Event, now_s: float) -> None:
        self.now_s = now_s
        self.failed_now.clear()
        self.ended_now = None
        self.happenings[type(event)](event)

    def execute(self, decision: Decision) -> None:
        self.executions[type(decision)](decision)

    @property
    def stalled(self) -> bool:
        """Nothing holds memory for work and nothing loads: no event to come can free any."""
        return not self.holding and not self.loading

    def old_enough(self, stored: Stored) -> bool:
        return stored.idle_since_s + self.limits.eviction_min_idle_s <= self.now_s

    def in_memory(self, circuit: Circuit) -> bool:
        for entry in circuit.entries:
            stored = self.stored.get(entry.key)
            if stored is None or stored.loading:
                return False
        return True

    def missing_bytes(self, circuit: Circuit) -> int:
        return sum([entry.size_bytes for entry in circuit.entries if entry.key not in self.stored])

    def _submit(self, event: Submit) -> None:
        job = event.job
        expect(2, job.id not in self.jobs, "job %s was taken twice", job.id)
        self.jobs[job.id] = Running(job)
        self.line.join(job, self.now_s)

    def _loaded(self, event: Loaded) -> None:
        stored = self.stored[event.entry_key]
        stored.loading = False
        self.loading -= 1
        if not stored.users:
            self._now_idle(stored)

    def _load_failed(self, event: LoadFailed) -> None:
        key = event.entry_key
        users = {held.job.job.id: held.job for held in self.admitted.values() if key in held.keys}
        for running in users.values():
            self._job_fails(running)
        stored = self.stored.pop(key)
        expect(4, not stored.users, "entry %s failed to load, and work beyond loading uses it", key)
        self.loading -= 1
        self.host_bytes -= stored.entry.size_bytes

    def _synthesized(self, event: Synthesized) -> None:
        held = self.partitions[event.partition]
        held.at = "synthesized"
        self.synthesizing -= 1
        if not held.stopping:
            self.queue[held.id] = held

    def _quotient_done(self, event: QuotientDone) -> None:
        held = self.partitions[event.partition]
        held.at = "quotient"
        held.host_bytes -= held.circuit.phase1_bytes
        self.host_bytes -= held.circuit.phase1_bytes

    def _proved(self, event: Proved) -> None:
        held = self.partitions[event.partition]
        self._give_back(held)
        held.at = "proved"

    def _verified(self, event: Verified) -> None:
        held = self.partitions[event.partition]
        held.job.verified += not held.stopping
        self._forget(held)

    def _failed(self, event: Failed) -> None:
        held = self.partitions.get(event.partition)
        running = self.jobs[event.partition.job_id]
        if held is not None:
            self._give_back(held)
            self._forget(held)
        self._job_fails(running)

    def _cancel(self, event: Cancel) -> None:
        running = self.jobs.get(event.job_id)
        if running is not None:
            self._job_fails(running)

    def _resized(self, event: Resized) -> None:
        self.limits = self.line.resize(event.budget_bytes)
        for running in list(self.jobs.values()):
            if self.line.waits(running.job.id):
                circuit = running.job.circuit
                if circuit.entries_bytes + circuit.working_bytes > event.budget_bytes:
                    self._job_fails(running)
        self._limit_changed()

    def _shared(self, event: Shared) -> None:
        self.share_bytes = event.share_bytes
        self._limit_changed()

    def _limit_changed(self) -> None:
        budget_bytes = self.limits.budget_bytes
        self.limit_bytes = budget_bytes if self.share_bytes is None else min(budget_bytes, self.share_bytes)
        self.ceiling_bytes = max(self.limit_bytes, self.host_bytes)

    def _tick(self, _event: Tick) -> None:
        self.wake_at_s = None

    def _job_fails(self, running: Running) -> None:
        """What has not started is gone at once; what runs goes when the policy's Stop is answered."""
        self.ended_now = running
        if running.failing:
            return
        running.failing = True
        self.failed_now.append(running)
        self.line.leave(running.job.id)
        for held in list(running.live.values()):
            if held.at == "admitted":
                self._give_back(held)
                self._forget(held)

    def _give_back(self, held: Held) -> None:
        """All that is still held, as it was taken."""
        if held.at == "proved":
            return
        if held.at == "synthesizing":
            self.synthesizing -= 1
        if held.device is not None:
            held.device.busy -= 1
            held.device.used_bytes -= held.device.needs(held.circuit)
            self.idle_workers += 1
            held.device = None
        self.holding -= 1
        self.host_bytes -= held.host_bytes
        held.host_bytes = 0
        for key in held.keys:
            stored = self.stored[key]
            stored.users -= 1
            if not stored.users and not stored.loading:
                self._now_idle(stored)
        held.keys = ()

    def _forget(self, held: Held) -> None:
        self.ended_now = held.job
        del self.partitions[held.id], held.job.live[held.id]
        self.admitted.pop(held.id, None)
        self.queue.pop(held.id, None)

    def _now_idle(self, stored: Stored) -> None:
        stored.idle_since_s = self.now_s
        self.idle[stored.entry.key] = stored
        self.idle_bytes += stored.entry.size_bytes

    def _stop(self, decision: Stop) -> None:
        held = self.partitions[decision.partition]
        expect(6, held.job.failing and not held.stopping, "%s was stopped without cause or twice", held.id)
        held.stopping = True
        self.queue.pop(held.id, None)

    def _evict(self, decision: Evict) -> None:
        stored = self.idle.pop(decision.entry.key, None)
        if stored is None:
            used = self.stored.get(decision.entry.key)
            state = "not in memory" if used is None else "loading" if used.loading else "in use"
            expect(4, False, "entry %s was evicted while %s", decision.entry.key, state)
            return
        del self.stored[decision.entry.key]
        self.idle_bytes -= stored.entry.size_bytes
        self.host_bytes -= stored.entry.size_bytes

    def _admit(self, decision: Admit) -> None:
        partition = decision.partition
        running = self.jobs[partition.job_id]
        expect(3, decision.reserved_bytes == running.job.circuit.working_bytes, "%s reserves less", partition)
        self.line.admit(partition)
        held = Held(running, partition, decision.reserved_bytes)
        self.partitions[partition] = running.live[partition] = self.admitted[partition] = held
        self.holding += 1
        self._take_bytes(decision.reserved_bytes)

    def use_entries(self, admitted: Iterable[Held]) -> None:
        """Of those just admitted, after their loads were decided: rule 3 says that nothing is left out."""
        for held in admitted:
            for key in held.keys:
                stored = self.stored.get(key)
                if stored is None:
                    expect(3, False, "%s was admitted without its entry %s", held.id, key)
                    continue
                stored.users += 1
                if self.idle.pop(key, None) is not None:
                    self.idle_bytes -= stored.entry.size_bytes

    def _load(self, decision: Load) -> None:
        entry = decision.entry
        expect(3, entry.key not in self.stored, "entry %s was loaded twice", entry.key)
        self.stored[entry.key] = Stored(entry)
        self.loading += 1
        self._take_bytes(entry.size_bytes)

    def _take_bytes(self, size_bytes: int) -> None:
        if self.ceiling_bytes > self.limit_bytes:
            self.ceiling_bytes = max(self.limit_bytes, min(self.ceiling_bytes, self.host_bytes))
        self.host_bytes += size_bytes
        if self.host_bytes > self.ceiling_bytes:
            expect(1, False, "%s bytes are held of a budget of %s", self.host_bytes, self.ceiling_bytes)

    def _synthesize(self, decision: Synthesize) -> None:
        held = self.partitions[decision.partition]
        ready = held.at == "admitted" and self.in_memory(held.circuit)
        expect(3, ready, "%s synthesizes without its entries, or twice", held.id)
        held.at = "synthesizing"
        del self.admitted[held.id]
        self.synthesizing += 1
        expect(1, self.synthesizing <= self.limits.synthesis_slots, "more synthesize than there are slots")

    def _prove(self, decision: Prove) -> None:
        held = self.queue.pop(decision.partition, None)
        if held is None:
            expect(7, False, "%s proves, and does not wait for a device", decision.partition)
            return
        device = self.devices[decision.device]
        expect(1, device.free_for(held.circuit), "device %s has no room for %s", decision.device, held.id)
        held.at = "proving"
        held.device = device
        device.busy += 1
        device.used_bytes += device.needs(held.circuit)
        self.idle_workers -= 1
        for other in self.queue.values():
            other.passed += 1

    def _end(self, decision: Complete | Fail | Reject) -> None:
        running = self.jobs.pop(decision.job_id, None)
        if running is None:
            expect(6, False, "job %s ended, and does not run", decision.job_id)
            return
        expect(6, not running.live, "job %s ended with work running", decision.job_id)
        if type(decision) is Complete:
            done = running.verified == running.job.partitions and not running.failing
            expect(6, done, "job %s is complete, and not all is verified", decision.job_id)
        else:
            refused = type(decision) is Reject
            expect(6, running.failing != refused, "job %s failed without cause", decision.job_id)
        self.line.leave(decision.job_id)

    def _wake_at(self, decision: WakeAt) -> None:
        expect(7, decision.at_s > self.now_s, "a timer was set for %s s, in the past", decision.at_s)
        self.wake_at_s = decision.at_s
