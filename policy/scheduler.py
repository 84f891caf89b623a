"""The state machine that all policies share: events change the work, and what they free starts other work."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from operator import attrgetter
from typing import Any

from policy.admission import Admission
from policy.decisions import Decision, Reject, WakeAt
from policy.errors import ProtocolError
from policy.events import (
    Cancel,
    DeviceLost,
    DeviceOutOfMemory,
    Displaced,
    Event,
    Failed,
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
from policy.explain import Queries
from policy.model import Circuit, Limits
from policy.records import JobRecord
from policy.refusals import device_refusal
from policy.room import Room
from policy.states import FAILED, STOPPING, VERIFIED
from policy.work import Work

_turn = attrgetter("turn")  # of a decision


class Scheduler(Queries):
    """See policy.protocol.Policy for what the public methods promise."""

    def __init__(self, limits: Limits, work: Work, room: Room) -> None:
        super().__init__(limits, work, room)
        self._wake_at_s = inf  # the Tick that the driver owes us; an event may come before it
        self._shrunk = False  # budget or share may be lower than what is reserved
        self._admission = Admission(work, room, limits.sort_by_type)
        self._stages, self._gathering = work.stages, work.waiting.gathering
        self._handlers: dict[type, Callable[[Any, float], None]] = {
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

    def handle(self, event: Event, now_s: float) -> list[Decision]:
        try:
            handler = self._handlers[type(event)]
        except KeyError:
            raise ProtocolError(f"{event!r} is no event, expected one of policy.events") from None
        if not now_s >= self._now_s:
            raise ProtocolError(f"{type(event).__name__} at {now_s} s, after an event at {self._now_s} s")
        work = self._work
        decisions = work.decisions = []
        if work.closed:
            work.closed = {}
        handler(event, now_s)
        self._now_s = now_s
        if len(decisions) > 1:
            decisions.sort(key=_turn)
        return decisions

    def _submit(self, event: Submit, now_s: float) -> None:
        job = event.job
        if job.id in self._work.jobs:
            raise ProtocolError(f"Submit of job {job.id}, which is unfinished, expected another id")
        known = self._work.circuits.find(job.circuit)
        if known is None or not known.groups:  # else one like it waits, so it can run
            why = self._refusal(job.circuit)
            if why is not None:
                self._work.decisions.append(Reject(job.id, why))
                return
        first = self._work.take(job, now_s + job.priority * self._limits.ageing_s, now_s)
        if first or now_s >= self._wake_at_s:
            self._start(now_s)  # else one like it waits before it, and in vain

    def _refusal(self, circuit: Circuit) -> str | None:
        circuits, devices = self._work.circuits, self._work.stages.devices
        return (
            circuits.conflict(circuit)
            or device_refusal(circuit, devices.left, devices.lost)
            or self._room.refusal(circuit, circuits.estimate(circuit).working_bytes)
        )

    def _loaded(self, event: Loaded, now_s: float) -> None:
        cached = self._work.loading_entry(event)
        if self._work.loaded(cached, event.size_bytes, now_s) or now_s >= self._wake_at_s:
            self._start(now_s)  # else another entry is still to come, and nothing else has changed

    def _load_failed(self, event: LoadFailed, now_s: float) -> None:
        self._work.load_failed(self._work.loading_entry(event), event.why, now_s)
        self._start(now_s)

    def _synthesized(self, event: Synthesized, now_s: float) -> None:
        record = self._work.find(event)
        record.advance(Synthesized)
        self._stages.synthesis_ended(record, now_s)
        self._start(now_s)

    def _quotient_done(self, event: QuotientDone, now_s: float) -> None:
        record = self._work.find(event)
        record.advance(QuotientDone)
        assert record.reservation is not None, f"{record.id} proves without a reservation"
        record.reservation.release_part(record.phase1_bytes)
        if self._admission.lacks_room or self._shrunk or now_s >= self._wake_at_s:
            self._start(now_s)  # else nobody waits for memory

    def _measured(self, event: Measured, now_s: float) -> None:
        circuit = self._work.find(event).job.circuit
        if circuit.estimate.measured(event.working_bytes):
            self._fail_what_never_fits(now_s)
            self._work.waiting.needs_changed(circuit, now_s)
            self._start(now_s)

    def _device_out_of_memory(self, event: DeviceOutOfMemory, now_s: float) -> None:
        work, record = self._work, self._work.find(event)
        device, estimate = record.device, record.job.circuit.estimate
        if device is not None and device.is_lost:
            self._displaced(Displaced(event.partition), now_s)
            return
        if record.state is STOPPING or device is None or device.device.memory_bytes is None:
            helps = False
        else:
            own_bytes = device.device.memory_bytes - record.job.job.circuit.device_entry_bytes
            helps = estimate.crowded(own_bytes, device.busy)
        if helps:
            work.come_again(record, DeviceOutOfMemory, now_s)
            self._fail_what_never_fits(now_s)  # the budget may have shrunk since its admission
        else:
            work.end(record, DeviceOutOfMemory if record.state is STOPPING else Failed, now_s)
            why = f"{record.id} was alone on its device, whose memory was too little for it"
            work.fail(record.job, why, now_s)
        self._start(now_s)

    def _device_lost(self, event: DeviceLost, now_s: float) -> None:
        devices = self._work.stages.devices
        if event.device not in devices.by_name or devices.by_name[event.device].is_lost:
            left = " or ".join([device.name for device in devices.left]) or "nothing"
            raise ProtocolError(f"DeviceLost of {event.device}, expected {left}")
        devices.lose(event.device)
        self._work.circuits.device_lost()
        self._fail_what_never_fits(now_s)
        self._start(now_s)

    def _displaced(self, event: Displaced, now_s: float) -> None:
        work, record = self._work, self._work.find(event)
        device = record.device
        if device is not None and not device.is_lost:
            raise ProtocolError(f"Displaced of {record.id}, whose device {device.device.name} is not lost")
        if record.state is STOPPING:
            work.end(record, Displaced, now_s)
            work.close_if_ended(record.job)
        else:
            work.come_again(record, Displaced, now_s)
            self._fail_what_never_fits(now_s)
        self._start(now_s)

    def _proved(self, event: Proved, now_s: float) -> None:
        record = self._work.find(event)
        record.advance(Proved)
        self._work.give_back(record, now_s)
        self._start(now_s)

    def _verified(self, event: Verified, now_s: float) -> None:
        work, record = self._work, self._work.find(event)
        job = record.job
        if work.end(record, Verified, now_s) is VERIFIED:
            job.verified += 1
            job.circuit.estimate.job_s = now_s - job.started_s
        work.close_if_ended(job)  # memory and workers are as before, so nothing can start

    def _failed(self, event: Failed, now_s: float) -> None:
        job = self._work.jobs.get(event.partition.job_id)
        if job is not None and job.is_waiting(event.partition.index):
            job.ended[event.partition.index] = FAILED
        else:
            record = self._work.find(event)
            self._work.end(record, Failed, now_s)
            job = record.job
        self._work.fail(job, event.why, now_s)
        self._start(now_s)

    def _cancel(self, event: Cancel, now_s: float) -> None:
        job = self._work.jobs.get(event.job_id)
        if job is not None:
            self._work.fail(job, "cancelled", now_s)
            self._start(now_s)

    def _resized(self, event: Resized, now_s: float) -> None:
        self._limits = replace(self._limits, budget_bytes=event.budget_bytes)
        self._room.resize(event.budget_bytes)
        self._shrunk = True
        self._fail_what_never_fits(now_s)
        self._start(now_s)

    def _fail_what_never_fits(self, now_s: float) -> None:
        for job in list(self._work.jobs.values()):
            why = self._never_fits(job) if job.why is None else None
            if why is not None:
                self._work.fail(job, why, now_s)

    def _never_fits(self, job: JobRecord) -> str | None:
        """Why a partition that is left can no longer run, if so."""
        circuit, devices = job.job.circuit, self._work.stages.devices
        why = self._room.refusal(circuit, job.circuit.estimate.working_bytes) if job.waits else None
        if why is None and devices.lost and job.needs_device:
            why = device_refusal(circuit, devices.left, devices.lost)
        return why

    def _shared(self, event: Shared, now_s: float) -> None:
        self._room.share(event.share_bytes, event.short)
        self._shrunk = True
        self._start(now_s)

    def _unload(self, event: Unload, now_s: float) -> None:
        cached = self._work.cache.find(event.entry_key)
        if cached is not None and not cached.users and not cached.loading:
            self._work.evict([cached], now_s)
            self._start(now_s)

    def _tick(self, _event: Tick, now_s: float) -> None:
        self._wake_at_s = inf
        self._start(now_s)

    def _start(self, now_s: float) -> None:
        """Start whatever can start."""
        work, stages, gathering = self._work, self._stages, self._gathering
        if self._shrunk:
            work.evict(self._room.excess(), now_s)
            self._shrunk = work.budget.free_bytes < 0
        if gathering.blocks:
            work.waiting.release_gathered(now_s)
        if stages.synthesized and stages.devices.idle_workers:
            stages.start_proving(work.decisions, now_s)
        if stages.ready:
            stages.start_synthesis(work.decisions, now_s)
        self._admission.admit_all(now_s)
        if stages.ready or stages.synthesized:
            stages.tell_causes(now_s)
        at_s = self._room.wake_at_s
        if gathering.blocks:
            gathered_s = work.waiting.next_gathered_s()
            at_s = gathered_s if at_s is None else min(at_s, gathered_s)
        if at_s is not None and at_s != self._wake_at_s:
            self._wake_at_s = at_s
            work.decisions.append(WakeAt(at_s))
