"""Runs in alternation, so that a noisy moment hurts every contestant alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.contestants.process import Contestant, ContestantError, Timing
from benchmarks.results import Measurement, Runs


@dataclass(frozen=True)
class Effort:
    """How often a task is run: `runs` times, but no contestant for much longer than `most_s` at one task.

    A first run that is longer than that is no warm-up but the only run, unless it may have compiled.
    """

    runs: int
    most_s: float


def alternate(
    measurement: Measurement,
    team: Sequence[Contestant],
    task: str,
    arguments: dict[str, Any],
    effort: Effort,
    report: Callable[[str], None],
) -> None:
    """Fill in the runs of everybody who can do the task on the measurement's curve.

    Who fails is left out from then on, with the reason. Raises ContestantError for answers that differ.
    """
    racers = [each for each in team if each.can(task, measurement.curve)]
    report(f"{title(measurement)} by {', '.join(each.name for each in racers) or 'nobody'} …")
    first: dict[str, Timing] = {}
    for racer in racers:
        timing = _timed(measurement, racer, task, arguments)
        if timing is not None:
            first[racer.name] = timing
    _agree(task, first)
    for racer in racers:
        if racer.name in first and first[racer.name].wall_s > effort.most_s and not racer.compiles:
            _note(measurement, racer, first[racer.name])
    for _ in range(effort.runs):
        for racer in racers:
            if racer.name not in measurement.failed and _has_time(measurement.runs.get(racer.name), effort):
                _note(measurement, racer, _timed(measurement, racer, task, arguments))
    report(line(measurement))


def title(measurement: Measurement) -> str:
    return f"{measurement.task} {measurement.curve} {measurement.size:,}"


def line(measurement: Measurement) -> str:
    """What was just measured, for the person who waits."""
    figures = ", ".join(f"{name} {runs.median_s:.4g} s" for name, runs in measurement.runs.items())
    failures = "".join(f"; {why}" for why in measurement.failed.values())
    return f"{title(measurement)}: {figures or 'nothing'}{failures}"


def _timed(
    measurement: Measurement, racer: Contestant, task: str, arguments: dict[str, Any]
) -> Timing | None:
    try:
        return racer.measure(task, **arguments)
    except ContestantError as error:
        measurement.failed[racer.name] = str(error)
        return None


def _has_time(runs: Runs | None, effort: Effort) -> bool:
    return runs is None or sum(runs.wall_s) + runs.median_s < effort.most_s


def _note(measurement: Measurement, racer: Contestant, timing: Timing | None) -> None:
    if timing is not None:
        runs = measurement.runs.setdefault(racer.name, Runs())
        runs.wall_s.append(timing.wall_s)
        runs.cpu_s.append(timing.cpu_s)
        runs.details = timing.details


def _agree(task: str, timings: dict[str, Timing]) -> None:
    answers = {name: timing.answer for name, timing in timings.items() if timing.answer}
    if len(set(answers.values())) > 1:
        raise ContestantError(f"different answers to {task}: {answers}")
