"""Work that slows down the more of it runs at once."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from simpy import Environment

from sim.alarms import Alarm, call_in


class Piece:
    """Work under way: what to call when it is done, None once nobody wants it any more."""

    __slots__ = ("done", "subject")

    def __init__(self, done: Callable[[Any], None], subject: Any) -> None:
        self.done: Callable[[Any], None] | None = done
        self.subject = subject


class SharedWork:
    """Each of n pieces of work proceeds at 1 / (1 + (n - 1)·slowdown) of its speed when alone.

    As in processor sharing, all speeds change whenever a piece begins or ends. They are always equal, so one
    clock of the work done tells for all: a piece that begins when it shows v ends when it shows v + alone_s
    (virtual time: Parekh and Gallager, A Generalized Processor Sharing Approach to Flow Control, 1993).
    """

    def __init__(self, env: Environment, slowdown: float) -> None:
        self._env = env
        self._slowdown = slowdown
        self._ends: list[tuple[float, int, Piece]] = []  # a heap, by the work done
        self._begun = 0
        self._running = 0
        self._done_s = 0.0  # what a piece would have done that ran from the start
        self._as_of_s = 0.0
        self._stretch = 1.0  # seconds for one second of work
        self._alarm: Alarm | None = None  # only the latest counts
        self._ringing = False

    def begin(self, alone_s: float, done: Callable[[Any], None], subject: Any) -> Piece:
        """Call `done(subject)` when work that takes `alone_s` alone is done."""
        self._proceed(1)
        self._begun += 1
        piece = Piece(done, subject)
        heappush(self._ends, (self._done_s + alone_s, self._begun, piece))
        if not self._ringing:
            self._set_alarm()
        return piece

    def abandon(self, piece: Piece) -> None:
        """The work of `begin` ends here."""
        piece.done = None
        self._proceed(-1)
        if not self._ringing:
            self._set_alarm()

    def _proceed(self, more: int) -> None:
        """Up to now as before; from now on with so many more at once."""
        now_s = self._env.now
        self._done_s += (now_s - self._as_of_s) / self._stretch
        self._as_of_s = now_s
        self._running += more
        if self._running > 1:
            self._stretch = 1 + (self._running - 1) * self._slowdown
        else:
            self._stretch = 1.0

    def _set_alarm(self) -> None:
        """To the end of the first piece that is still wanted."""
        ends = self._ends
        while ends and ends[0][2].done is None:
            heappop(ends)
        if not ends:
            self._alarm = None
            return
        left_s = (ends[0][0] - self._done_s) * self._stretch
        self._alarm = call_in(self._env, max(0.0, left_s), self._ring, ends[0][0])

    def _ring(self, alarm: Alarm) -> None:
        if alarm is not self._alarm:
            return
        self._proceed(0)
        self._done_s = alarm.subject  # but for a rounding it is so already
        self._ringing = True
        while self._ends and self._ends[0][0] <= self._done_s:
            _, _, piece = heappop(self._ends)
            if piece.done is not None:
                self._proceed(-1)
                piece.done(piece.subject)
        self._ringing = False
        self._set_alarm()
