"""A machine in SimPy on which everything goes wrong that a case says, under a checked policy."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from simpy import Environment
from simpy.events import Event as Signal

from policy import (
    Admit,
    BudgetPolicy,
    Cancel,
    Decision,
    DeviceOutOfMemory,
    Event,
    Fail,
    Failed,
    Limits,
    Load,
    Loaded,
    Measured,
    PartitionId,
    Policy,
    ProtocolError,
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
from sim.torture.case import Arrival, At, Case, Crowded, Death, DeviceLost, LoadFails, Stage, Stray, Strike
from sim.torture.rules import CheckedPolicy
from sim.torture.violation import expect
from sim.torture.work import Work

MakePolicy = Callable[[Limits], Policy]
ASK_EVERY = 64
REPORTS = (Loaded, Synthesized, QuotientDone, Proved, Verified)


class Logged(NamedTuple):
    """An entry of the decision log; a death has no event."""

    at_s: float
    event: Event | Death
    decisions: list[Decision]


class TortureMachine:
    """Executes the decisions and reports, in an order and at times that the case decides."""

    def __init__(
        self, case: Case, make_policy: MakePolicy = BudgetPolicy, ask_every: int = ASK_EVERY
    ) -> None:
        self.log: list[Logged] = []
        self._case = case
        self._pace = case.pace
        self._make_policy = make_policy
        self._ask_every = ask_every
        self._env = Environment(initial_time=0.0)
        self._checked = CheckedPolicy(make_policy(case.limits), case.limits, ask_every=ask_every)
        self._events: deque[Event] = deque()
        self._executing = False
        self._arrivals = {arrival.job.id: arrival for arrival in case.arrivals}
        self._retries = {arrival.job.id: arrival.retries for arrival in case.arrivals}
        self._work = Work(
            self._env,
            case.pace,
            {arrival.job.id: arrival.number for arrival in case.arrivals},
            {fault.number for fault in case.faults if isinstance(fault, LoadFails)},
            self._send,
            self._reached,
        )
        self._strikes: dict[tuple[PartitionId, Stage], list[Strike]] = {}
        self._timer: Signal | None = None
        self._asking = False
        self._most_events = 2000 + 40 * case.partitions
        self._actions: dict[type, Callable[[Any], None]] = {
            Admit: lambda admit: self._reached(admit.partition, "admitted"),
            Load: self._work.load,
            Synthesize: self._work.synthesize,
            Prove: self._work.prove,
            Stop: self._work.stop,
            Fail: self._end,
            Reject: self._end,
            WakeAt: self._set_timer,
        }

    def run(self) -> None:
        """To the end. Raises ViolationError, and whatever the policy raises."""
        for arrival in self._case.arrivals:
            self._after(arrival.at_s, self._arrive, arrival)
        for fault in self._case.faults:
            if isinstance(fault, At):
                self._after(fault.at_s, self._happen, fault.what)
            elif isinstance(fault, Strike):
                self._strikes.setdefault((fault.partition, fault.stage), []).append(fault)
        self._env.run()
        self._nothing_is_left()

    def _nothing_is_left(self) -> None:
        books, policy = self._checked.books, self._checked.policy
        for partition in books.partitions:
            expect(7, False, "nothing happens any more, and %s", policy.explain(partition))
        for waiting in books.line:
            partition = PartitionId(waiting.job.id, waiting.next)
            expect(7, False, "nothing happens any more, and %s", policy.explain(partition))
        expect(6, not books.jobs, "jobs did not end: %s", list(books.jobs))
        expect(6, policy.reserved_bytes == books.idle_bytes, "%s bytes stay reserved", policy.reserved_bytes)

    def _after(self, delay_s: float, then: Callable[[Signal], None], value: object) -> Signal:
        timeout = self._env.timeout(delay_s, value)
        timeout.callbacks.append(then)
        return timeout

    def _send(self, event: Event) -> None:
        """Take an event; while another is executed it waits its turn."""
        self._events.append(event)
        if self._executing:
            return
        self._executing = True
        now_s = self._env.now
        while self._events:
            event = self._events.popleft()
            try:
                decisions = self._checked.handle(event, now_s)
            except Exception:
                self.log.append(Logged(now_s, event, []))
                raise
            self.log.append(Logged(now_s, event, decisions))
            for decision in decisions:
                action = self._actions.get(type(decision))
                if action is not None:
                    action(decision)
        self._executing = False
        if self._checked.books.share_bytes is not None and not self._asking:
            self._ask_for_more()
        if len(self.log) > self._most_events:
            expect(0, False, "%s events, and no end", len(self.log))

    def _ask_for_more(self) -> None:
        """Other processes give what is wanted, after a while."""
        if self._checked.policy.wanted_share(self._env.now) is not None:
            self._asking = True
            self._after(self._pace.draw(len(self.log), 0, 9), self._given, None)

    def _given(self, _signal: Signal) -> None:
        """Whatever is wanted by now, as little as will do or as much as helps, is used at once."""
        self._asking = False
        wanted = self._checked.policy.wanted_share(self._env.now)
        if wanted is not None:
            given_bytes = wanted[len(self.log) % 2]
            entries = len(self.log)
            self._send(Shared(given_bytes))
            used = any(type(decision) is Admit for decision in self.log[entries].decisions)
            expect(7, used, "%s bytes were wanted of other processes, and are not used", given_bytes)

    def _arrive(self, signal: Signal) -> None:
        arrival = cast(Arrival, signal.value)
        if arrival.job.id in self._checked.books.jobs:
            return  # handed in again by a death meanwhile
        if arrival.deadline_s is not None:
            self._after(arrival.deadline_s, self._happen, Cancel(arrival.job.id))
        self._send(Submit(arrival.job))

    def _reached(self, partition: PartitionId, stage: Stage) -> None:
        """Strikes strike once, not a retried job again."""
        if stage == "proved" and self._case.took:
            self._measure(partition)
        if not self._strikes:
            return
        for strike in self._strikes.pop((partition, stage), ()):
            self._after(strike.after_s, self._happen, _event_of(strike))

    def _measure(self, partition: PartitionId) -> None:
        arrival, took = self._arrivals[partition.job_id], self._case.took
        share = took[(arrival.number * 7 + partition.index) % len(took)]
        self._send(Measured(partition, int(arrival.job.circuit.working_bytes * share)))

    def _end(self, decision: Fail | Reject) -> None:
        if self._retries[decision.job_id]:
            self._retries[decision.job_id] -= 1
            arrival = self._arrivals[decision.job_id]
            self._after(self._pace.draw(arrival.number, 0, 8), self._arrive, arrival)

    def _set_timer(self, decision: WakeAt) -> None:
        self._timer = self._after(decision.at_s - self._env.now, self._tick, None)

    def _tick(self, signal: Signal) -> None:
        if signal is self._timer:
            self._timer = None
            self._send(Tick())

    def _happen(self, signal: Signal) -> None:
        match signal.value:
            case Cancel() | Resized() | Shared() as event:
                self._send(event)
            case Failed(partition, why):
                self._fail(partition, why)
            case DeviceLost(name):
                for partition in self._proving_on(name):
                    self._fail(partition, "device lost")
            case DeviceOutOfMemory(partition):
                self._lack_device_memory(partition)
            case Crowded(name):
                for partition in self._proving_on(name):
                    self._lack_device_memory(partition)
            case Stray():
                self._stray()
            case Death():
                self._die()

    def _lack_device_memory(self, partition: PartitionId) -> None:
        """Of a partition that proves, if it does."""
        held = self._checked.books.partitions.get(partition)
        if held is not None and held.device is not None:
            self._work.drop(partition)
            self._send(DeviceOutOfMemory(partition))

    def _stray(self) -> None:
        """What cannot be is refused, and changes nothing: what comes after would show it."""
        last = self.log[-1].event if self.log else None
        stray = last if isinstance(last, REPORTS) else Loaded("nothing")
        try:
            self._checked.policy.handle(stray, self._env.now)
        except ProtocolError:
            return
        expect(0, False, "%s was taken a second time", stray)

    def _proving_on(self, device: str) -> list[PartitionId]:
        held_by = self._checked.books.partitions.values()
        return [held.id for held in held_by if held.device is not None and held.device.device.name == device]

    def _fail(self, partition: PartitionId, why: str) -> None:
        """Of a partition that is admitted, or waits, if it is."""
        books = self._checked.books
        if partition not in books.partitions:
            waits = books.line.waits(partition.job_id)
            if not waits or not books.line.find(partition.job_id).waits(partition.index):
                return
        self._work.drop(partition)
        self._send(Failed(partition, why))

    def _die(self) -> None:
        unfinished = [running.job for running in self._checked.books.jobs.values()]
        limits = self._checked.books.limits
        self._checked = CheckedPolicy(self._make_policy(limits), limits, ask_every=self._ask_every)
        self._work.clear()
        self._timer = None
        self.log.append(Logged(self._env.now, Death(), []))
        for job in unfinished:
            self._send(Submit(job))


def _event_of(strike: Strike) -> Cancel | Failed | DeviceOutOfMemory:
    partition = strike.partition
    if strike.blow == "cancel":
        return Cancel(partition.job_id)
    if strike.blow == "fail":
        return Failed(partition, f"while {strike.stage}")
    return DeviceOutOfMemory(partition)
