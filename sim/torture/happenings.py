"""What an event says, put into the books before the policy answers."""

from collections.abc import Callable
from typing import Any

from policy import (
    Cancel,
    Event,
    Failed,
    Limits,
    Loaded,
    LoadFailed,
    Proved,
    QuotientDone,
    Resized,
    Shared,
    Submit,
    Synthesized,
    Tick,
    Verified,
)
from sim.torture.holdings import Holdings, Running
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
            Proved: self._proved,
            Verified: self._verified,
            Failed: self._failed,
            Cancel: self._cancel,
            Resized: self._resized,
            Shared: self._shared,
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
