"""A figure with its error bar: the mean over several seeds, and how far it may be off."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, isclose, sqrt
from statistics import fmean, stdev

# Student's t at 97.5 % for 1 to 30 degrees of freedom.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
      2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
      2.045, 2.042)  # fmt: skip
_NORMAL = 1.960


@dataclass(frozen=True)
class Interval:
    """A mean, and the 95 % confidence interval of it by Student's t; of a single value both ends are None.

    The interval ends where the figure's range does, as no share is below 0: then its sides differ.
    """

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def half(self) -> float | None:
        """Half of the interval: what stands after ±. Of one that was cut off, its longer side."""
        if self.low is None or self.high is None:
            return None
        return max(self.high - self.mean, self.mean - self.low)

    @property
    def even(self) -> bool:
        """Both sides are as long."""
        if self.low is None or self.high is None:
            return True
        return isclose(self.high - self.mean, self.mean - self.low, rel_tol=1e-6, abs_tol=1e-12)


def range_of(name: str) -> tuple[float, float]:
    """Between which values a figure of that name lies: a share is one of all, and nothing is below 0."""
    return 0.0, 1.0 if name.partition("[")[0].endswith("_share") else inf


def interval_of(values: Sequence[float], least: float = -inf, most: float = inf) -> Interval:
    """Over independent seeds, of a figure from `least` to `most`. Raises ValueError for no values."""
    if not values:
        raise ValueError("no values, expected at least one")
    mean, count = fmean(values), len(values)
    if count == 1:
        return Interval(mean, None, None, 1)
    t = _T[count - 2] if count - 2 < len(_T) else _NORMAL
    half = t * stdev(values) / sqrt(count)
    return Interval(mean, max(least, mean - half), min(most, mean + half), count)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest of the ordered values that at least `share` of them do not exceed (nearest rank)."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]
