"""The one place that events pass: time, policy, log, then the decisions, one event after the other."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from policy import Decision, Event, Policy, Tick

# A timer may fire a little early, by the clock's resolution; the policy would only ask for it again.
TIMER_SLACK_S = 0.002


class Driver(Protocol):
    """Who does what the policy decides."""

    def observe(self, event: Event, decisions: Sequence[Decision], at_s: float) -> None:
        """The policy has taken the event; nothing of its answer is executed yet."""

    def execute(self, decision: Decision, at_s: float) -> None:
        """Start what is decided and return; must not raise and must not block."""

    def settle(self) -> None:
        """No event is left; one may be sent."""


class Dispatcher:
    """Feeds events to the policy and its decisions to the driver, on the event loop's thread only.

    An event sent while another is being executed waits its turn, so decisions are never executed re-entrantly
    and the log is a sequence. Times are seconds since `start_s` on the loop's clock, which never goes back.
    """

    def __init__(
        self, policy: Policy, driver: Driver, start_s: float, broken: Callable[[Exception], None]
    ) -> None:
        self._policy, self._driver, self._broken = policy, driver, broken
        self._loop = asyncio.get_running_loop()
        self._start_s = start_s
        self._events: deque[Event] = deque()
        self._executing = False
        self._timer: asyncio.TimerHandle | None = None
        self.error: Exception | None = None
        self.taken = 0  # events

    def now_s(self) -> float:
        """Seconds since the run's start."""
        return self._loop.time() - self._start_s

    def send(self, event: Event) -> None:
        """Take the event and execute what follows from it; after an error of ours nothing is taken."""
        self._events.append(event)
        if self._executing or self.error is not None:
            return
        self._executing = True
        try:
            while self._events:
                self._take(self._events.popleft())
                if not self._events:
                    self._driver.settle()
        except Exception as error:  # a mistake in this program: what the policy believes is no longer true
            self.error = error
            self._broken(error)
        finally:
            self._executing = False

    def wake_at(self, at_s: float) -> None:
        """Send a Tick then; replaces an earlier request."""
        self.cancel_timer()
        self._timer = self._loop.call_at(self._start_s + at_s + TIMER_SLACK_S, self.send, Tick())

    def cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _take(self, event: Event) -> None:
        at_s = self.now_s()
        self.taken += 1
        decisions = self._policy.handle(event, at_s)
        self._driver.observe(event, decisions, at_s)
        for decision in decisions:
            self._driver.execute(decision, at_s)
