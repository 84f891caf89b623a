"""Numbers that sum up many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Of some seconds: how many, the ends, the mean, and what half and nearly all stay below."""

    count: int
    least_s: float
    mean_s: float
    p50_s: float
    p90_s: float
    p99_s: float
    most_s: float

    def __str__(self) -> str:
        return (
            f"mean {self.mean_s:.3f} s, half below {self.p50_s:.3f} s, "
            f"{self.least_s:.3f} to {self.most_s:.3f} s"
        )


def spread(seconds: Sequence[float]) -> Spread | None:
    """None of none."""
    if not seconds:
        return None
    values = np.asarray(seconds, np.float64)
    p50_s, p90_s, p99_s = (float(each) for each in np.percentile(values, [50, 90, 99]))
    return Spread(
        len(values), float(values.min()), float(values.mean()), p50_s, p90_s, p99_s, float(values.max())
    )
