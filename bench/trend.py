"""Whether something grows over a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FEWEST = 10
SETTLED = 0.1  # of the run: what comes before is its beginning


def growth(at_s: Sequence[float], values: Sequence[float]) -> float | None:
    """What a straight line through the values gains over the run, as a part of their mean.

    The first tenth of the time is left out: memory fills then. None for too few values.
    """
    times, found = np.asarray(at_s, np.float64), np.asarray(values, np.float64)
    if len(times) < FEWEST:
        return None
    settled = times >= times[0] + SETTLED * (times[-1] - times[0])
    times, found = times[settled], found[settled]
    if len(times) < 2 or found.mean() == 0 or times[-1] == times[0]:
        return None
    slope, _ = np.polyfit(times - times[0], found, 1)
    return float(slope * (times[-1] - times[0]) / found.mean())
