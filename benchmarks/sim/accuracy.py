"""Predicted against measured: a profile learned from one batch, and what it says of five others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from benchmarks.sim.batches import LEARNED
from db import History, list_runs
from sim import MachineProfile, RecordedRun, load_profile, read_recorded, replay_run
from sim.calibrate import calibrate
from sim.validate import Comparison, compare_run, spread_of

MAKESPAN_MEDIAN, MAKESPAN_WORST, MEMORY_WORST = 0.07, 0.12, 0.08
FIGURES = ("makespan_s", "peak_rss_bytes")


@dataclass(frozen=True)
class BatchError:
    """Of one batch: what was predicted, beside the mean of its real runs and their spread."""

    name: str
    figure: str
    runs: int
    predicted: float
    measured: float
    spread: float | None

    @property
    def error(self) -> float:
        """Signed and relative."""
        return self.predicted / self.measured - 1


def recorded_batches(history: History) -> dict[str, list[RecordedRun]]:
    """The runs of each batch, by its name."""
    found: dict[str, list[RecordedRun]] = defaultdict(list)
    for summary in reversed(list_runs(history, 10_000)):
        found[summary.run.name].append(read_recorded(history, summary.run.id))
    return dict(found)


def learn(batches: Mapping[str, Sequence[RecordedRun]]) -> MachineProfile:
    """From the runs of the one batch that is there for it."""
    runs = batches[LEARNED]
    return calibrate(runs, load_profile(), LEARNED, runs[0].cores).profile


def errors_of_others(
    batches: Mapping[str, Sequence[RecordedRun]], profile: MachineProfile
) -> list[BatchError]:
    """Of all batches but the learned one. Raises AssertionError where a run does not replay."""
    found = []
    for name, runs in batches.items():
        for run in runs:
            difference = replay_run(run)
            assert difference is None, f"{name}, run {run.run_id}: {difference}"
        if name != LEARNED:
            compared = [compare_run(run, profile) for run in runs]
            found += [_error(name, figure, compared) for figure in FIGURES]
    return found


def _error(name: str, figure: str, compared: Sequence[Comparison]) -> BatchError:
    predicted = fmean(each.predicted[figure] for each in compared)
    measured = fmean(each.measured[figure] for each in compared)
    spread = spread_of(compared, lambda each: each.measured[figure])
    return BatchError(name, figure, len(compared), predicted, measured, spread)


def summary(errors: Sequence[BatchError]) -> dict[str, float]:
    """Median and worst of the absolute errors, and the mean of the signed ones, by figure."""
    figures: dict[str, float] = {}
    for figure in FIGURES:
        signed = [each.error for each in errors if each.figure == figure]
        sizes = [abs(error) for error in signed]
        figures |= {
            f"{figure} median": median(sizes),
            f"{figure} worst": max(sizes),
            f"{figure} bias": fmean(signed),
        }
    return figures


def missed(figures: Mapping[str, float]) -> list[str]:
    """The bars that are not met."""
    bars = {
        "makespan_s median": MAKESPAN_MEDIAN,
        "makespan_s worst": MAKESPAN_WORST,
        "peak_rss_bytes worst": MEMORY_WORST,
    }
    return [
        f"{name} is {figures[name]:.1%}, expected at most {most:.0%}"
        for name, most in bars.items()
        if figures[name] > most
    ]
