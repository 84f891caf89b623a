"""Calls at a later simulated time: what SimPy processes as an event, and no process around it."""

from collections.abc import Callable
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


def call_in(env: Environment, delay_s: float, call: Callable[[Any], None], subject: Any) -> Alarm:
    """Calls of the same moment are made in the order in which they were asked for."""
    alarm = Alarm()  # without a constructor, which would take as long as all else here
    alarm.callbacks, alarm.subject = (call,), subject
    env.schedule(alarm, NORMAL, delay_s)  # type: ignore[arg-type]  # it is as much of an event as SimPy uses
    return alarm
