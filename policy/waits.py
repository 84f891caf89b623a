"""How long who has waited for what: at any time one cause, and over time the causes add up to the wait.

Waiters of one kind share a cause, so it is noted once for all of them: a clock for each kind counts seconds
by cause. Who begins or ends to wait only reads a clock; sums are made when somebody asks for them.
"""

from collections.abc import Mapping
from typing import NamedTuple

from policy.protocol import WaitCause

Seconds = Mapping[WaitCause, float]
NONE: Seconds = {}
NOTHING_S = 1e-6  # what is left of a cause by rounding alone


class WaitClock:
    """The cause that all waiters of one kind have now, and for how long each cause has been it."""

    __slots__ = ("cause", "seconds", "since_s")

    def __init__(self, cause: WaitCause | None = None) -> None:
        self.cause = cause
        self.since_s = 0.0
        self.seconds = NONE  # of the causes up to then; replaced and never changed, so a reading may keep it

    def turn(self, cause: WaitCause, now_s: float) -> None:
        if cause is not self.cause:
            if self.cause is not None:
                self.seconds = added(self.seconds, {self.cause: now_s - self.since_s})
            self.since_s, self.cause = now_s, cause

    def read(self, now_s: float) -> "Reading":
        return Reading(self.seconds, self.cause, self.since_s, now_s)


class Reading(NamedTuple):
    """What a clock showed at a moment."""

    seconds: Seconds
    cause: WaitCause | None
    since_s: float
    at_s: float

    def until(self, later: "Reading") -> Seconds:
        """What was waited by the clock between two readings of it."""
        if later.at_s == self.at_s or later.cause is None:
            return NONE
        if later.seconds is self.seconds and later.since_s == self.since_s:
            return {later.cause: later.at_s - self.at_s}
        return difference(later.total(), self.total())

    def total(self) -> Seconds:
        if self.cause is None:
            return self.seconds
        return added(self.seconds, {self.cause: self.at_s - self.since_s})


class Mark(NamedTuple):
    """What a group had waited at a moment: `past`, and by its present clock from one reading to the other."""

    past: Seconds
    entered: Reading
    at: Reading

    def total(self) -> Seconds:
        return added(self.past, self.entered.until(self.at))


class GroupWaited:
    """A group, which waits as long as there is one, now by one clock and now by another."""

    __slots__ = ("_entered", "_past", "clock")

    def __init__(self, clock: WaitClock, now_s: float) -> None:
        self.clock = clock
        self._past, self._entered = NONE, clock.read(now_s)

    def enter(self, clock: WaitClock, now_s: float) -> None:
        if clock is not self.clock:
            self._past = self.mark(now_s).total()
            self.clock, self._entered = clock, clock.read(now_s)

    def mark(self, now_s: float) -> Mark:
        return Mark(self._past, self._entered, self.clock.read(now_s))


class Waited:
    """A partition: what it has waited so far, and by which clock it waits now, if it does."""

    __slots__ = ("_before", "_entered", "_in_line", "_spans", "clock")

    def __init__(self, before: "Waited | None", joined: Mark, left: Mark) -> None:
        """It was in line from when it `joined` its group to when it `left`; `before`: an attempt before."""
        self._before = before
        self._in_line = (joined, left)
        self._spans: list[tuple[Reading, Reading]] = []
        self._entered: Reading | None = None
        self.clock: WaitClock | None = None

    def enter(self, clock: WaitClock, now_s: float) -> None:
        if self.clock is not None:
            self.leave(now_s)
        self.clock, self._entered = clock, clock.read(now_s)

    def leave(self, now_s: float) -> None:
        if self.clock is not None and self._entered is not None:
            if now_s != self._entered.at_s:
                self._spans.append((self._entered, self.clock.read(now_s)))
            self.clock = self._entered = None

    def read(self, now_s: float) -> Seconds:
        joined, left = self._in_line
        seconds = difference(left.total(), joined.total())
        if self._before is not None:
            seconds = added(self._before.read(now_s), seconds)
        for entered, ended in self._spans:
            seconds = added(seconds, entered.until(ended))
        if self.clock is not None and self._entered is not None:
            seconds = added(seconds, self._entered.until(self.clock.read(now_s)))
        return seconds


def added(one: Seconds, other: Seconds) -> Seconds:
    if not one or not other:
        return one or other
    seconds = dict(one)
    for cause, more_s in other.items():
        seconds[cause] = seconds.get(cause, 0.0) + more_s
    return seconds


def difference(later: Seconds, earlier: Seconds) -> Seconds:
    seconds = {cause: waited_s - earlier.get(cause, 0.0) for cause, waited_s in later.items()}
    return {cause: waited_s for cause, waited_s in seconds.items() if waited_s > NOTHING_S}
