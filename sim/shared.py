"""Work that slows down the more of it runs at once."""

from collections.abc import Generator

from simpy import Environment, Event


class SharedWork:
    """Each of n pieces of work proceeds at 1 / (1 + (n - 1)·slowdown) of its speed when alone.

    As in processor sharing, all speeds change whenever a piece begins or ends.
    """

    def __init__(self, env: Environment, slowdown: float) -> None:
        self._env = env
        self._slowdown = slowdown
        self._left_s: dict[Event, float] = {}  # seconds left if alone, in the order of beginning
        self._as_of_s = 0.0
        self._turn = 0  # only the latest alarm counts

    def begin(self, alone_s: float) -> Event:
        """An event that fires when work that takes `alone_s` alone is done."""
        self._proceed()
        done = self._env.event()
        self._left_s[done] = alone_s
        self._set_alarm()
        return done

    def abandon(self, done: Event) -> None:
        """The work of `begin` ends here."""
        self._proceed()
        self._left_s.pop(done, None)
        self._set_alarm()

    def _stretch(self) -> float:
        return 1 + (len(self._left_s) - 1) * self._slowdown

    def _proceed(self) -> None:
        if self._left_s:
            passed_s = (self._env.now - self._as_of_s) / self._stretch()
            self._left_s = {done: left_s - passed_s for done, left_s in self._left_s.items()}
        self._as_of_s = self._env.now

    def _set_alarm(self) -> None:
        self._turn += 1
        if self._left_s:
            first = min(self._left_s, key=lambda done: self._left_s[done])
            delay_s = max(0.0, self._left_s[first] * self._stretch())
            self._env.process(self._alarm(first, delay_s, self._turn))

    def _alarm(self, first: Event, delay_s: float, turn: int) -> Generator[Event, None, None]:
        yield self._env.timeout(delay_s)
        if turn == self._turn:
            self._proceed()
            del self._left_s[first]
            first.succeed()
            self._set_alarm()
