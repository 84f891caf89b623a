"""Calls at a later simulated time: what SimPy processes as an event, and no process around it."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from simpy import Environment
from simpy.events import NORMAL


class Alarm:
    """Calls `call(alarm)` once; what it is about is its `subject`.

    A process would do, but starting and resuming one takes longer than a policy takes to decide.
    """

    __slots__ = ("callbacks", "subject")
    _ok = True  # all that SimPy asks of an event, beside its callbacks

    callbacks: tuple[Callable[[Any], None]] | None
    subject: Any


class Clock(Environment):
    """SimPy's environment for runs of which most events are alarms: those are called without a step each."""

    def step(self) -> None:
        """Call the alarms that are next, if any are, then process the event that follows."""
        queue: list[Any] = self._queue
        while queue and type(queue[0][3]) is Alarm:
            self._now, _, _, alarm = heappop(queue)
            (call,) = alarm.callbacks
            call(alarm)
        super().step()


def call_in(env: Environment, delay_s: float, call: Callable[[Any], None], subject: Any) -> Alarm:
    """Calls of the same moment are made in the order in which they were asked for."""
    alarm = Alarm()  # without a constructor, which would take as long as all else here
    alarm.callbacks, alarm.subject = (call,), subject
    entry: Any = (env._now + delay_s, NORMAL, next(env._eid), alarm)  # as `Environment.schedule` makes it
    heappush(env._queue, entry)
    return alarm
