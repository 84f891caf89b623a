"""The state machine that all policies share: events change the work, and what they free starts other work."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from policy.decisions import (
    Admit,
    Complete,
    Decision,
    Evict,
    Fail,
    Load,
    Prove,
    Reject,
    Stop,
    Synthesize,
    WakeAt,
)
from policy.errors import ProtocolError
from policy.events import (
    Cancel,
    Event,
    Failed,
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
from policy.explain import Queries
from policy.model import Limits
from policy.refusals import device_refusal
from policy.room import Room
from policy.states import PartitionState
from policy.work import Work

# The order of execution within one answer, see policy.decisions.
_TURNS = {
    Stop: 0,
    Evict: 1,
    Admit: 2,
    Load: 3,
    Synthesize: 4,
    Prove: 5,
    Complete: 6,
    Fail: 6,
    Reject: 6,
    WakeAt: 7,
}


class Scheduler(Queries):
    """See policy.protocol.Policy for what the public methods promise."""

    def __init__(self, limits: Limits, work: Work, room: Room) -> None:
        super().__init__(limits, work, room)
        self._wake_at_s: float | None = None  # the Tick that the driver owes us
        self._shrunk = False  # budget or share may be lower than what is reserved
        self._handlers: dict[type, Callable[[Any, float], None]] = {
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

    def handle(self, event: Event, now_s: float) -> list[Decision]:
        handler = self._handlers.get(type(event))
        if handler is None:
            raise ProtocolError(f"{event!r} is no event, expected one of policy.events")
        if not now_s >= self._now_s:
            raise ProtocolError(f"{type(event).__name__} at {now_s} s, after an event at {self._now_s} s")
        decisions = self._work.decisions = []
        handler(event, now_s)
        self._now_s = now_s
        if len(decisions) > 1:
            decisions.sort(key=_turn)
        return decisions

    def _submit(self, event: Submit, now_s: float) -> None:
        job = event.job
        if job.id in self._work.jobs:
            raise ProtocolError(f"Submit of job {job.id}, which is unfinished, expected another id")
        circuit = job.circuit
        why = (
            self._work.cache.conflict(circuit)
            or device_refusal(circuit, self._limits.devices)
            or self._room.refusal(circuit)
        )
        if why is not None:
            self._work.decisions.append(Reject(job.id, why))
            return
        self._work.take(job, now_s + job.priority * self._limits.ageing_s)
        self._start(now_s)

    def _loaded(self, event: Loaded, now_s: float) -> None:
        self._work.loaded(self._work.loading_entry(event), now_s)
        self._start(now_s)

    def _load_failed(self, event: LoadFailed, now_s: float) -> None:
        self._work.load_failed(self._work.loading_entry(event), event.why, now_s)
        self._start(now_s)

    def _synthesized(self, event: Synthesized, now_s: float) -> None:
        record = self._work.find(event, event.partition)
        state = record.advance(Synthesized)
        self._work.stages.free_slot(record)
        if state is PartitionState.SYNTHESIZED:
            self._work.stages.put_synthesized(record)
        self._start(now_s)

    def _quotient_done(self, event: QuotientDone, now_s: float) -> None:
        record = self._work.find(event, event.partition)
        record.advance(QuotientDone)
        assert record.reservation is not None, f"{record.id} proves without a reservation"
        record.reservation.release_part(record.job.job.circuit.phase1_bytes)
        self._start(now_s)

    def _proved(self, event: Proved, now_s: float) -> None:
        record = self._work.find(event, event.partition)
        record.advance(Proved)
        self._work.give_back(record, now_s)
        self._start(now_s)

    def _verified(self, event: Verified, now_s: float) -> None:
        record = self._work.find(event, event.partition)
        if self._work.end(record, Verified, now_s) is PartitionState.VERIFIED:
            record.job.verified += 1
        self._work.close_if_ended(record.job)  # memory and workers are as before, so nothing can start

    def _failed(self, event: Failed, now_s: float) -> None:
        job = self._work.jobs.get(event.partition.job_id)
        if job is not None and job.waits(event.partition.index):
            job.ended[event.partition.index] = PartitionState.FAILED
        else:
            record = self._work.find(event, event.partition)
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
        for job in list(self._work.jobs.values()):
            if job.why is None and job.next_index < job.job.partitions:
                why = self._room.refusal(job.job.circuit)
                if why is not None:
                    self._work.fail(job, why, now_s)
        self._start(now_s)

    def _shared(self, event: Shared, now_s: float) -> None:
        self._room.share(event.share_bytes)
        self._shrunk = True
        self._start(now_s)

    def _tick(self, _event: Tick, now_s: float) -> None:
        self._wake_at_s = None
        self._start(now_s)

    def _start(self, now_s: float) -> None:
        """Start whatever can start; afterwards nothing can, but for those whom a line holds back."""
        work, stages = self._work, self._work.stages
        if self._shrunk:
            work.evict(self._room.excess())
            self._shrunk = work.budget.lacking(0) > 0
        stages.start_proving(work.decisions)
        stages.start_synthesis(work.decisions)
        while self._admit_one(now_s, forced=False) or (work.stalled and self._admit_one(now_s, forced=True)):
            stages.start_synthesis(work.decisions)
        wake_at_s = self._room.wake_at_s
        if wake_at_s is not None and wake_at_s != self._wake_at_s:
            self._wake_at_s = wake_at_s
            work.decisions.append(WakeAt(wake_at_s))

    def _admit_one(self, now_s: float, forced: bool) -> bool:
        """Admit the first in turn that has room, and either a slot now or entries to load till then."""
        work = self._work
        self._room.wake_at_s = None
        may_synthesize, may_load = work.stages.may_synthesize(), work.stages.may_load()
        if not work.waiting or not (may_synthesize or may_load):
            return False
        wanted_bytes: list[int] = []
        most_bytes = self._room.most_bytes(now_s, forced)
        for group in work.waiting.candidates():
            if group.outdated:
                work.look_up(group)
            if may_synthesize if group.in_memory else may_load:
                if group.needed_bytes > most_bytes:
                    wanted_bytes.append(group.needed_bytes)
                elif (evictions := self._room.evictions_for(group)) is not None:
                    work.evict(evictions)
                    work.admit(group)
                    return True
        if wanted_bytes:
            self._room.wanted(min(wanted_bytes))
        return False


def _turn(decision: Decision) -> int:
    return _TURNS[type(decision)]
