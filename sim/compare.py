"""Two ways side by side on the same seeds, so that their difference is known better than either."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from policy import capacities
from sim.intervals import Interval, interval_of
from sim.question import NO_SETTINGS, Question
from sim.summary import Summary

FIXED = (1, 2, 5, 10)


@dataclass(frozen=True)
class Difference:
    """Of one figure: what the other has more than the first, seed by seed, with its interval."""

    name: str
    first: Interval
    other: Interval
    more: Interval

    @property
    def there_is_one(self) -> bool:
        """More than what rounding makes."""
        return not isclose(self.first.mean, self.other.mean, rel_tol=1e-9)

    @property
    def sure(self) -> bool:
        """Zero is outside the interval: the difference is no accident of the seeds."""
        low, high = self.more.low, self.more.high
        return self.there_is_one and low is not None and high is not None and (low > 0 or high < 0)


def differences(first: Summary, other: Summary) -> list[Difference]:
    """Of every figure that both have for every seed."""
    found = []
    for name, interval in first.figures.items():
        pairs = [
            (mine.figures[name], others.figures[name])
            for mine, others in zip(first.by_seed, other.by_seed, strict=True)
            if name in mine.figures and name in others.figures
        ]
        if name in other.figures and pairs:
            more = interval_of([theirs - mine for mine, theirs in pairs])
            found.append(Difference(name, interval, other.figures[name], more))
    return found


def fixed_against_budget(
    question: Question, settings: Mapping[str, str] = NO_SETTINGS
) -> Sequence[Mapping[str, str]]:
    """The standard comparison: the budget, and fixed numbers of partitions at once, as without one.

    Besides some usual numbers, the largest that fits beside the entries of all circuits, which somebody who
    has to choose a number would choose.
    """
    scenario = question.scenario(settings)
    circuits = [each.shape for each in scenario.workload.circuits.values()]
    beside_all = [found.beside_all for host in scenario.hosts for found in capacities(host.limits, circuits)]
    safe = max(1, min(beside_all))
    numbers = sorted({*FIXED, safe})
    return [{"policy": "budget"}, *[{"policy": f"fixed:{number}"} for number in numbers]]
