"""Work that slows down the more of it runs at once."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from sim.clock import Clock
from sim.contention import Stretch

LEAST_S = 1e-6  # of weights


class Piece:
    """Work under way: what to call when it is done, None once nobody wants it any more."""

    __slots__ = ("done", "subject", "weight")

    def __init__(self, done: Callable[[Any], None], subject: Any, weight: float) -> None:
        self.done: Callable[[Any], None] | None = done
        self.subject = subject
        self.weight = weight


class SharedWork:
    """Each piece of work proceeds at 1 / stretch of its speed when alone.

    As in processor sharing, all speeds change whenever a piece begins or ends. They are always equal, so one
    clock of the work done tells for all: a piece that begins when it shows v ends when it shows v + alone_s
    (virtual time: Parekh and Gallager, A Generalized Processor Sharing Approach to Flow Control, 1993).

    `by_size` from 0 to 1: each is given time in proportion to what it takes, to the power of it. With 1, as
    where all take the same number of steps that take turns, those end together that begin so; with 0 each is
    given the same.
    """

    def __init__(self, clock: Clock, stretch: Stretch, by_size: float = 0.0) -> None:
        """`stretch` of how many pieces are at work here and beside it (see `beside`)."""
        self._clock = clock
        self._stretch_of = stretch
        self._by_size = by_size
        self._is_plain = not by_size  # and nothing beside it, as most are
        self._weights = 0.0
        self._beside: SharedWork | None = None
        self._ends: list[tuple[float, int, Piece]] = []  # a heap, by the work done
        self._begun = 0
        self.running = 0  # pieces at work
        self._done_s = 0.0  # what a piece would have done that ran from the start
        self._as_of_s = 0.0
        self._stretch = 1.0  # seconds for one second of work
        self._alarms = 0  # that were set; only the latest counts
        self._ringing = False

    def beside(self, other: "SharedWork") -> None:
        """The two slow each other down."""
        self._beside, other._beside = other, self
        self._is_plain = other._is_plain = False

    @property
    def done_s(self) -> float:
        """What a piece that had run from the start would have done by now."""
        return self._done_s + (self._clock.now - self._as_of_s) / self._stretch

    def begin(self, alone_s: float, done: Callable[[Any], None], subject: Any) -> Piece:
        """Call `done(subject)` when work that takes `alone_s` alone is done."""
        weight = max(alone_s, LEAST_S) ** self._by_size if self._by_size else 1.0
        self._proceed(1, weight)
        self._begun += 1
        piece = Piece(done, subject, weight)
        heappush(self._ends, (self._done_s + alone_s / weight, self._begun, piece))
        if not self._ringing:
            self._set_alarm()
        return piece

    def abandon(self, piece: Piece) -> None:
        """The work of `begin` ends here."""
        piece.done = None
        self._proceed(-1, -piece.weight)
        if not self._ringing:
            self._set_alarm()

    def _proceed(self, more: int, weight: float) -> None:
        """Up to now as before; from now on with so many more at once."""
        now_s = self._clock.now
        self._done_s += (now_s - self._as_of_s) / self._stretch
        self._as_of_s = now_s
        self.running = running = self.running + more
        if running and self._is_plain:
            self._stretch = self._stretch_of(running, 0)
        else:
            self._weights += weight
            self._set_stretch()
            if self._beside is not None:
                self._beside._neighbour_changed()

    def _set_stretch(self) -> None:
        running, others = self.running, 0 if self._beside is None else self._beside.running
        if not running:
            self._stretch, self._weights = 1.0, 0.0  # what is left of the sum is rounding
        elif self._by_size:
            self._stretch = self._stretch_of(running, others) * self._weights / running
        else:
            self._stretch = self._stretch_of(running, others)

    def _neighbour_changed(self) -> None:
        self._done_s, self._as_of_s = self.done_s, self._clock.now
        self._set_stretch()
        if not self._ringing:
            self._set_alarm()

    def _set_alarm(self) -> None:
        """To the end of the first piece that is still wanted."""
        ends = self._ends
        while ends and ends[0][2].done is None:
            heappop(ends)
        self._alarms += 1
        if ends:
            left_s = (ends[0][0] - self._done_s) * self._stretch
            self._clock.call_in(left_s if left_s > 0.0 else 0.0, self._ring, self._alarms)

    def _ring(self, alarm: int) -> None:
        if alarm != self._alarms:
            return
        ends = self._ends
        self._as_of_s = self._clock.now
        self._done_s = done_s = ends[0][0]  # but for a rounding it is so already
        self._ringing = True
        while ends and ends[0][0] <= done_s:
            _, _, piece = heappop(ends)
            if piece.done is not None:
                self._proceed(-1, -piece.weight)
                piece.done(piece.subject)
        self._ringing = False
        self._set_alarm()
