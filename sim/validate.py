"""How far predictions are from what was measured, beside how far real runs are from each other."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from sim.predict import Figures, figures_of, predict
from sim.profile import MachineProfile
from sim.replay import RecordedRun
from sim.requests import Requests, requests_of


@dataclass(frozen=True)
class Comparison:
    """One run. `alike`: equal for runs of the same requests under the same limits."""

    run_id: str
    predicted: Figures
    measured: Figures
    alike: object

    @property
    def errors(self) -> Figures:
        """Signed, relative to what was measured; of figures that are in both."""
        return {
            name: self.predicted[name] / value - 1
            for name, value in self.measured.items()
            if name in self.predicted and value
        }


@dataclass(frozen=True)
class FigureError:
    """Over all runs: of absolute errors the median and the worst, and the mean of the signed ones.

    `spread` is the relative standard deviation of repeated real runs about their means; None without repeats.
    """

    name: str
    runs: int
    median: float
    worst: float
    bias: float
    spread: float | None


def compare_run(run: RecordedRun, profile: MachineProfile) -> Comparison:
    """Raises SimError for a run that is no example, or of which the profile lacks times."""
    requests = requests_of(run.log, run.run_id)
    measured = figures_of(run.log, run.peak_reserved_bytes, run.peak_rss_bytes)
    predicted = predict(requests, run.limits, profile, policy=run.policy)
    return Comparison(run.run_id, predicted, measured, (run.policy, run.limits, _asked(requests)))


def _asked(requests: Requests) -> object:
    """What was asked for, without names."""
    jobs = tuple((job.circuit, job.partitions, job.priority) for job in requests.jobs)
    return jobs, requests.concurrency


def figure_errors(comparisons: Sequence[Comparison]) -> list[FigureError]:
    """By figure, in the order of the first run that has it."""
    names = dict.fromkeys(name for each in comparisons for name in each.errors)
    return [_of_figure(name, comparisons) for name in names]


def _of_figure(name: str, comparisons: Sequence[Comparison]) -> FigureError:
    errors = [each.errors[name] for each in comparisons if name in each.errors]
    sizes = [abs(error) for error in errors]
    spread = spread_of(comparisons, lambda each: each.measured.get(name))
    return FigureError(name, len(errors), median(sizes), max(sizes), fmean(errors), spread)


def spread_of(comparisons: Sequence[Comparison], value: Callable[[Comparison], float | None]) -> float | None:
    """The pooled relative standard deviation of runs that were alike."""
    groups: dict[object, list[float]] = defaultdict(list)
    for each in comparisons:
        found = value(each)
        if found is not None:
            groups[each.alike].append(found)
    repeated = [values for values in groups.values() if len(values) > 1 and fmean(values)]
    if not repeated:
        return None
    weights = sum(len(values) - 1 for values in repeated)
    pooled = sum((len(values) - 1) * (stdev(values) / fmean(values)) ** 2 for values in repeated)
    return float((pooled / weights) ** 0.5)
