"""Calls at a later simulated time: an event of SimPy with one callback, and no process around it."""

from collections.abc import Callable
from typing import Any

from simpy import Environment, Event


class Alarm(Event):
    """Calls `call(alarm)` once; what it is about is its `subject`.

    A process would do, but starting and resuming one takes longer than a policy takes to decide.
    """

    __slots__ = ("callbacks", "subject")
    _ok = True  # all that SimPy asks of an event that it processes
    _value = None

    def __init__(self, call: Callable[[Any], None], subject: Any) -> None:
        self.callbacks = [call]
        self.subject = subject


def call_in(env: Environment, delay_s: float, call: Callable[[Any], None], subject: Any) -> Alarm:
    """Calls of the same moment are made in the order in which they were asked for."""
    alarm = Alarm(call, subject)
    env.schedule(alarm, delay=delay_s)
    return alarm
