"""Does in simulated time what a checked policy decides, and keeps the decision log."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from policy import (
    Admit,
    BudgetPolicy,
    Cancel,
    Decision,
    Event,
    Fail,
    Limits,
    Load,
    Measured,
    PartitionId,
    Policy,
    Prove,
    Reject,
    Shared,
    Stop,
    Submit,
    Synthesize,
    Tick,
    WakeAt,
)
from sim.clock import Clock
from sim.torture.case import Arrival, Case, Death, LoadFails, Stage
from sim.torture.rules import CheckedPolicy
from sim.torture.violation import expect
from sim.torture.work import Work

MakePolicy = Callable[[Limits], Policy]
ASK_EVERY = 64


class Logged(NamedTuple):
    """An entry of the decision log; a death has no event."""

    at_s: float
    event: Event | Death
    decisions: list[Decision]


class Driver:
    """Jobs come when the case says, work takes as long as it says, and timers and other processes answer."""

    def __init__(
        self, case: Case, make_policy: MakePolicy = BudgetPolicy, ask_every: int = ASK_EVERY
    ) -> None:
        self.log: list[Logged] = []
        self.admitted = 0  # partitions, a retried one each time
        self._case = case
        self._pace = case.pace
        self._make_policy = make_policy
        self._ask_every = ask_every
        self._env = Clock()
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
            case.loaded,
            self._send,
            self._reached,
        )
        self._timer: WakeAt | None = None  # only the latest counts
        self._asking = False
        self._most_events = 2000 + 40 * case.partitions
        self._actions: dict[type, Callable[[Any], None]] = {
            Admit: self._admit,
            Load: self._work.load,
            Synthesize: self._work.synthesize,
            Prove: self._work.prove,
            Stop: self._work.stop,
            Fail: self._end,
            Reject: self._end,
            WakeAt: self._set_timer,
        }

    def _after(self, delay_s: float, then: Callable[[Any], None], subject: object) -> None:
        self._env.call_in(delay_s, then, subject)

    def _send(self, event: Event) -> None:
        """Take an event; while another is executed it waits its turn."""
        self._events.append(event)
        if self._executing:
            return
        self._executing = True
        now_s, events, log, actions = self._env.now, self._events, self.log, self._actions
        while events:
            event = events.popleft()
            try:
                decisions = self._checked.handle(event, now_s)
            except Exception:
                log.append(Logged(now_s, event, []))
                raise
            log.append(Logged(now_s, event, decisions))
            for decision in decisions:
                action = actions.get(type(decision))
                if action is not None:
                    action(decision)
        self._executing = False
        if self._checked.books.share_bytes is not None and not self._asking:
            self._ask_for_more()
        if len(log) > self._most_events:
            expect(0, False, "%s events, and no end", len(log))

    def _ask_for_more(self) -> None:
        """Other processes give what is wanted, after a while."""
        if self._checked.policy.wanted_share(self._env.now) is not None:
            self._asking = True
            self._after(self._pace.draw(len(self.log), 0, 9), self._given, None)

    def _given(self, _nothing: None) -> None:
        """Whatever is wanted by now, as little as will do or as much as helps, is used at once."""
        self._asking = False
        wanted = self._checked.policy.wanted_share(self._env.now)
        if wanted is not None:
            given_bytes = wanted[len(self.log) % 2]
            entries = len(self.log)
            self._send(Shared(given_bytes))
            used = any(type(decision) is Admit for decision in self.log[entries].decisions)
            expect(7, used, "%s bytes were wanted of other processes, and are not used", given_bytes)

    def _arrive(self, arrival: Arrival) -> None:
        if arrival.job.id in self._checked.books.jobs:
            return  # handed in again by a death meanwhile
        if arrival.deadline_s is not None:
            self._after(arrival.deadline_s, self._send, Cancel(arrival.job.id))
        self._send(Submit(arrival.job))

    def _end(self, decision: Fail | Reject) -> None:
        if self._retries[decision.job_id]:
            self._retries[decision.job_id] -= 1
            arrival = self._arrivals[decision.job_id]
            self._after(self._pace.draw(arrival.number, 0, 8), self._arrive, arrival)

    def _set_timer(self, decision: WakeAt) -> None:
        self._timer = decision
        self._after(decision.at_s - self._env.now, self._tick, decision)

    def _tick(self, asked: WakeAt) -> None:
        if asked is self._timer:
            self._timer = None
            self._send(Tick())

    def _admit(self, decision: Admit) -> None:
        self.admitted += 1
        self._reached(decision.partition, "admitted")

    def _measure(self, partition: PartitionId) -> None:
        arrival, took = self._arrivals[partition.job_id], self._case.took
        share = took[(arrival.number * 7 + partition.index) % len(took)]
        self._send(Measured(partition, int(arrival.job.circuit.working_bytes * share)))

    def _reached(self, partition: PartitionId, stage: Stage) -> None:
        """A partition has come to the stage, and nothing was reported of it yet."""
        if stage == "proved" and self._case.took:
            self._measure(partition)
