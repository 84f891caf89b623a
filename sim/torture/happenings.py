"""What an event says, put into the books before the policy answers."""

from collections.abc import Callable
from typing import Any

from policy import (
    Cancel,
    DeviceLost,
    DeviceOutOfMemory,
    Displaced,
    Event,
    Failed,
    Limits,
    Loaded,
    LoadFailed,
    Measured,
    Proved,
    QuotientDone,
    Resized,
    Shared,
    Submit,
    Synthesized,
    Tick,
    Unload,
    Verified,
)
from sim.torture.holdings import Held, Holdings, Running
from sim.torture.violation import expect


class Happenings(Holdings):
    """Events are trusted: they come from the driver, and the policy has taken them."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.happenings: dict[type, Callable[[Any], None]] = {
            Submit: self._submit,
            Loaded: self._loaded,
            LoadFailed: self._load_failed,
            Synthesized: self._synthesized,
            QuotientDone: self._quotient_done,
            Measured: self._measured,
            DeviceOutOfMemory: self._device_out_of_memory,
            DeviceLost: self._device_lost,
            Displaced: self._displaced,
            Proved: self._proved,
            Verified: self._verified,
            Failed: self._failed,
            Cancel: self._cancel,
            Resized: self._resized,
            Shared: self._shared,
            Unload: self._unload,
            Tick: self._tick,
        }

    def happen(self, event: Event, now_s: float) -> None:
        self.now_s = now_s
        self.failed_now.clear()
        self.ended_now = None
        self.happenings[type(event)](event)

    def _submit(self, event: Submit) -> None:
        job = event.job
        expect(2, job.id not in self.jobs, "job %s was taken twice", job.id)
        expected = self.expected(job.circuit)
        self.jobs[job.id] = Running(job, expected)
        self.line.join(job, expected, self.now_s)

    def _loaded(self, event: Loaded) -> None:
        stored = self.stored[event.entry_key]
        stored.loading = False
        self.changes += 1
        if event.size_bytes is not None:
            self.host_bytes -= stored.size_bytes - event.size_bytes
            stored.size_bytes = event.size_bytes
        self.loading -= 1
        if not stored.users:
            self._now_idle(stored)

    def _load_failed(self, event: LoadFailed) -> None:
        key = event.entry_key
        users = {held.job.job.id: held.job for held in self.admitted.values() if key in held.keys}
        for running in users.values():
            self._job_fails(running)
        stored = self.stored.pop(key)
        self.changes += 1
        expect(4, not stored.users, "entry %s failed to load, and work beyond loading uses it", key)
        self.loading -= 1
        self.host_bytes -= stored.size_bytes

    def _synthesized(self, event: Synthesized) -> None:
        held = self.partitions[event.partition]
        held.at = "synthesized"
        self.synthesizing -= 1
        if not held.stopping:
            self.queue[held.id] = held

    def _quotient_done(self, event: QuotientDone) -> None:
        held = self.partitions[event.partition]
        held.at = "quotient"
        held.host_bytes -= held.phase1_bytes
        self.host_bytes -= held.phase1_bytes

    def _measured(self, event: Measured) -> None:
        expected = self.partitions[event.partition].expected
        before_bytes = expected.working_bytes
        expected.measured(event.working_bytes)
        if expected.working_bytes != before_bytes:
            self._fail_what_never_fits()

    def _device_out_of_memory(self, event: DeviceOutOfMemory) -> None:
        """It is tried again with fewer on the device, unless it was alone there, or takes all of it."""
        held = self.partitions[event.partition]
        device, expected = held.device, held.expected
        assert device is not None, "what no device has cannot use its memory up"
        own_bytes, at_once = device.device.memory_bytes, device.busy
        if own_bytes is not None:
            own_bytes -= held.circuit.device_entry_bytes
        self._give_back(held)
        self._forget(held)
        alone = own_bytes is None or at_once == 1 or expected.device_bytes >= own_bytes
        if held.stopping or (alone and not device.lost):
            self._job_fails(held.job)
            return
        if own_bytes is not None and not device.lost:
            share_bytes = own_bytes // at_once + 1
            expected.device_bytes = share_bytes if share_bytes > expected.device_bytes else own_bytes
        self._come_again(held)

    def _come_again(self, held: Held) -> None:
        self.ended_now = None
        self.line.come_again(held.id, held.job.job, held.expected, held.place, held.rank, self.now_s)
        self._fail_what_never_fits()

    def _device_lost(self, event: DeviceLost) -> None:
        device = self.devices[event.device]
        self.idle_workers -= device.idle_workers
        device.lose()
        left = [each.device.memory_bytes for each in self.devices.values() if not each.lost]
        sizes = [size_bytes for size_bytes in left if size_bytes is not None]
        if sizes and len(sizes) == len(left):
            for circuit, expected in self._expected.items():
                expected.fit(max(sizes) - circuit.device_entry_bytes)
        self._fail_what_never_fits()

    def _displaced(self, event: Displaced) -> None:
        held = self.partitions[event.partition]
        self._give_back(held)
        self._forget(held)
        if held.stopping:
            self._job_fails(held.job)
        else:
            self._come_again(held)

    def _proved(self, event: Proved) -> None:
        held = self.partitions[event.partition]
        self._give_back(held)
        held.at = "proved"

    def _verified(self, event: Verified) -> None:
        held = self.partitions[event.partition]
        if not held.stopping:
            held.job.verified += 1
            assert held.job.started_s is not None, "what is verified was admitted"
            held.expected.job_s = self.now_s - held.job.started_s
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
        self._fail_what_never_fits()
        self._limit_changed()

    def _fail_what_never_fits(self) -> None:
        lost = any(device.lost for device in self.devices.values())
        for running in list(self.jobs.values()):
            circuit, waits = running.job.circuit, self.line.waits(running.job.id)
            if (waits and self.never_fits(running.expected)) or (
                lost and self.never_proves(circuit) and (waits or running.comes_to_a_device)
            ):
                self._job_fails(running)

    def _shared(self, event: Shared) -> None:
        self.share_bytes = event.share_bytes
        self._limit_changed()

    def _limit_changed(self) -> None:
        budget_bytes = self.limits.budget_bytes
        self.limit_bytes = budget_bytes if self.share_bytes is None else min(budget_bytes, self.share_bytes)
        self.ceiling_bytes = max(self.limit_bytes, self.host_bytes)

    def _tick(self, _event: Tick) -> None:
        self.wake_at_s = None

    def _unload(self, _event: Unload) -> None:
        """By itself it changes nothing: what goes, the answer says."""

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
