"""Simulated time: SimPy's environment, and calls at a later moment that need no event of their own."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from simpy import Environment
from simpy.events import NORMAL


class Clock(Environment):
    """For runs of mostly calls: a process for each would take longer than a policy takes to decide."""

    __slots__ = ("_now",)

    def __init__(self) -> None:
        super().__init__(initial_time=0.0)
        self._calls: list[tuple[float, int, int, Callable[[Any], None], Any]] = []  # a heap

    def call_in(self, delay_s: float, call: Callable[[Any], None], subject: Any) -> None:
        """Call `call(subject)`. What comes at one moment comes in the order in which it was asked for."""
        heappush(self._calls, (self._now + delay_s, NORMAL, next(self._eid), call, subject))

    def step(self) -> None:
        """Make the calls that are next, if any are, then process the event that follows."""
        calls: list[Any] = self._calls
        queue: list[Any] = self._queue
        while calls and not (queue and queue[0] < calls[0]):
            self._now, _, _, call, subject = heappop(calls)
            call(subject)
        super().step()


# The slot itself, since SimPy's property is a function call each time.
Clock.now = Clock._now  # type: ignore[assignment, misc]
