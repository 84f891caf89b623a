"""How long who has waited for what: at any time one cause, and over time the causes add up to the wait.

Waiters of one kind share a cause, so it is noted once for all of them: a clock for each kind counts seconds
by cause. Who begins or ends to wait only reads a clock; sums are made when somebody asks for them.
"""

from collections.abc import Mapping

from policy.protocol import WaitCause

Seconds = Mapping[WaitCause, float]
NONE: Seconds = {}
NOTHING_S = 1e-6  # what is left of a cause by rounding alone


Phase = tuple[Seconds, WaitCause | None, float]
"""What a clock has counted up to a moment, never changed; what it counts from then on; the moment."""
Reading = tuple[Phase, float]  # what a clock showed at a moment
Mark = tuple[Seconds, Reading, Reading]  # what was waited before, and by one clock between two readings


class WaitClock:
    """The cause that all waiters of one kind have now, and for how long each cause has been it."""

    __slots__ = ("cause", "phase")

    def __init__(self, cause: WaitCause | None = None) -> None:
        self.cause = cause
        self.phase: Phase = (NONE, cause, 0.0)

    def turn(self, cause: WaitCause, now_s: float) -> None:
        """The cause is another from now on."""
        seconds, before, since_s = self.phase
        if before is not None:
            seconds = {**seconds, before: seconds.get(before, 0.0) + now_s - since_s}
        self.phase = (seconds, cause, now_s)
        self.cause = cause


def total(reading: Reading) -> Seconds:
    (seconds, cause, since_s), at_s = reading
    return seconds if cause is None else added(seconds, {cause: at_s - since_s})


def between(earlier: Reading, later: Reading) -> Seconds:
    """What was waited by a clock between two readings of it."""
    phase, at_s = later
    cause = phase[1]
    if at_s == earlier[1] or cause is None:
        return NONE
    if phase is earlier[0]:
        return {cause: at_s - earlier[1]}
    return difference(total(later), total(earlier))


def marked(mark: Mark) -> Seconds:
    past, entered, at = mark
    return added(past, between(entered, at))


class GroupWaited:
    """A group, which waits as long as there is one, now by one clock and now by another."""

    __slots__ = ("_entered", "_past", "clock")

    def __init__(self, clock: WaitClock, now_s: float) -> None:
        self.clock = clock
        self._past, self._entered = NONE, (clock.phase, now_s)

    def enter(self, clock: WaitClock, now_s: float) -> None:
        if clock is not self.clock:
            self._past = marked(self.mark(now_s))
            self.clock, self._entered = clock, (clock.phase, now_s)

    def mark(self, now_s: float) -> Mark:
        return self._past, self._entered, (self.clock.phase, now_s)


class Waited:
    """A partition: what it has waited so far, and by which clock it waits now, if it does."""

    __slots__ = ("_before", "_entered", "_in_line", "_spans", "clock")

    def __init__(self, before: "Waited | None", joined: Mark, left: Mark) -> None:
        """It was in line from when it `joined` its group to when it `left`; `before`: an attempt before."""
        self._before = before
        self._in_line = (joined, left)
        self._spans: tuple[tuple[Reading, Reading], ...] = ()
        self._entered: Reading | None = None
        self.clock: WaitClock | None = None

    def enter(self, clock: WaitClock, now_s: float) -> None:
        if self.clock is not None:
            self.leave(now_s)
        self.clock, self._entered = clock, (clock.phase, now_s)

    def leave(self, now_s: float) -> None:
        clock, entered = self.clock, self._entered
        if clock is not None and entered is not None:
            if now_s != entered[1]:
                self._spans += ((entered, (clock.phase, now_s)),)
            self.clock = self._entered = None

    def read(self, now_s: float) -> Seconds:
        joined, left = self._in_line
        seconds = difference(marked(left), marked(joined))
        if self._before is not None:
            seconds = added(self._before.read(now_s), seconds)
        for entered, ended in self._spans:
            seconds = added(seconds, between(entered, ended))
        if self.clock is not None and self._entered is not None:
            seconds = added(seconds, between(self._entered, (self.clock.phase, now_s)))
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
