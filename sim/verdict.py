"""What becomes of a workload on a machine, in a word that may be trusted: the worst goes first."""

from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import Literal

Load = Literal["overloaded", "backlogged", "stable"]
"""Whether a machine keeps up with what arrives."""
Verdict = Literal["would run out of memory", "fails", "overloaded", "backlogged", "stable", "completes"]
"""From the worst on. "fails": some proofs do, in spite of all retries. "completes": a closed loop, in which a
proof begins when another ends, so it cannot be overloaded."""
OUT_OF_MEMORY: Verdict = "would run out of memory"
WINDOWS = 10
FIRST_WINDOW = 2  # before it the machine is cold and empty
GROWING = 0.5  # Kendall's tau of the backlog over time
LEFT_SHARE = 0.05  # of the time of arrivals: what it may take to finish what is left at their end
WAITING_SHARE = 0.5


class Backlog:
    """Unfinished partitions over the time of arrivals, as means of equal windows."""

    def __init__(self, duration_s: float) -> None:
        self._window_s = duration_s / WINDOWS
        self._integral = [0.0] * WINDOWS
        self._unfinished, self._since_s = 0, 0.0

    def change(self, at_s: float, more: int) -> None:
        """So many more (or fewer) partitions are unfinished from now on."""
        while self._since_s < at_s:
            window = int(self._since_s / self._window_s)
            if window >= WINDOWS:
                break
            until_s = min(at_s, (window + 1) * self._window_s)
            if until_s <= self._since_s:  # a rounding at the window's end
                until_s = at_s
            self._integral[window] += self._unfinished * (until_s - self._since_s)
            self._since_s = until_s
        self._since_s = at_s
        self._unfinished += more

    @property
    def means(self) -> list[float]:
        """Of each window."""
        return [integral / self._window_s for integral in self._integral]


def load_of(
    backlog: Sequence[float], left_s: float, duration_s: float, alone_s: float, unbegun_share: float
) -> Load:
    """Overloaded: more arrives than is done, so backlog and latencies would grow without end.

    That is so where the backlog of the windows grows, and what was left at the end of the arrivals took
    `left_s`, far longer than a proof takes by itself (`alone_s`); or where that was never done: inf.
    Backlogged: it keeps up, but some proof waits to begin for more than half of the time.
    """
    most_left_s = LEFT_SHARE * duration_s + 2 * alone_s
    if left_s == inf or (left_s > most_left_s and kendall_tau(backlog[FIRST_WINDOW:]) >= GROWING):
        return "overloaded"
    return "backlogged" if unbegun_share > WAITING_SHARE else "stable"


def kendall_tau(values: Sequence[float]) -> float:
    """How steadily values grow: 1 if each is greater than all before it, −1 if less, about 0 for noise.

    M. G. Kendall, A New Measure of Rank Correlation, Biometrika 30 (1938).
    """
    signs = [(later > earlier) - (later < earlier) for earlier, later in combinations(values, 2)]
    return sum(signs) / len(signs) if signs else 0.0
