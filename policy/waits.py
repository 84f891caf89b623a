"""How long who has waited for what: at any time one cause, and over time the causes add up to the wait.

Waiters of one kind share a cause, so it is noted once for all of them: a clock for each kind counts seconds
by cause, and a waiter's share is the difference between two readings.
"""

from collections.abc import Mapping

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


class Reading:
    """What a clock showed at a moment."""

    __slots__ = ("_at_s", "_cause", "_clock", "_seconds", "_since_s")

    def __init__(self, clock: WaitClock, now_s: float) -> None:
        self._clock, self._at_s = clock, now_s
        self._seconds, self._since_s, self._cause = clock.seconds, clock.since_s, clock.cause

    def until(self, now_s: float) -> Seconds:
        """What has been waited by the clock from the reading on."""
        clock = self._clock
        if now_s == self._at_s or clock.cause is None:
            return NONE
        if clock.seconds is self._seconds and clock.since_s == self._since_s:
            return {clock.cause: now_s - self._at_s}
        seconds = dict(added(clock.seconds, {clock.cause: now_s - clock.since_s}))
        for cause, earlier_s in self._seconds.items():
            seconds[cause] -= earlier_s
        if self._cause is not None:
            seconds[self._cause] -= self._at_s - self._since_s
        return {cause: waited_s for cause, waited_s in seconds.items() if waited_s > NOTHING_S}


class Waited:
    """One waiter: what it has waited so far, and by which clock it waits now, if it does."""

    __slots__ = ("_past", "_reading", "clock")

    def __init__(self, past: Seconds = NONE) -> None:
        self._past = past
        self._reading: Reading | None = None
        self.clock: WaitClock | None = None

    @property
    def cause(self) -> WaitCause | None:
        return self.clock.cause if self.clock is not None else None

    def enter(self, clock: WaitClock, now_s: float) -> None:
        if clock is not self.clock:
            self.leave(now_s)
            self.clock, self._reading = clock, Reading(clock, now_s)

    def leave(self, now_s: float) -> None:
        self._past = self.read(now_s)
        self.clock = self._reading = None

    def read(self, now_s: float) -> Seconds:
        return self._past if self._reading is None else added(self._past, self._reading.until(now_s))


def added(one: Seconds, other: Seconds) -> Seconds:
    if not one or not other:
        return one or other
    seconds = dict(one)
    for cause, more_s in other.items():
        seconds[cause] = seconds.get(cause, 0.0) + more_s
    return seconds


def difference(later: Seconds, earlier: Seconds) -> Seconds:
    if not earlier or later is earlier:
        return later if not earlier else NONE
    seconds = {cause: waited_s - earlier.get(cause, 0.0) for cause, waited_s in later.items()}
    return {cause: waited_s for cause, waited_s in seconds.items() if waited_s > NOTHING_S}
