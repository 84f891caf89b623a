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

    Raises ContestantError for answers that differ.
    """
    first: dict[str, Timing] = {}
    for contestant in team:
        if contestant.can(task, measurement.curve):
            try:
                first[contestant.name] = contestant.measure(task, **arguments)
            except ContestantError as error:
                measurement.failed[contestant.name] = str(error)
    _agree(task, first)
    racers = [contestant for contestant in team if contestant.name in first]
    for racer in racers:
        runs = measurement.runs[racer.name] = Runs()
        if first[racer.name].wall_s > effort.most_s and not racer.compiles:
            _note(runs, first[racer.name])
    for _ in range(effort.runs):
        for racer in racers:
            runs = measurement.runs[racer.name]
            if not runs.wall_s or sum(runs.wall_s) + runs.median_s < effort.most_s:
                _note(runs, racer.measure(task, **arguments))
    report(line(measurement))


def line(measurement: Measurement) -> str:
    """What was just measured, for the person who waits."""
    figures = ", ".join(f"{name} {runs.median_s:.4g} s" for name, runs in measurement.runs.items())
    failures = "".join(f"; {why}" for why in measurement.failed.values())
    return f"{measurement.task} {measurement.curve} {measurement.size:,}: {figures or 'nothing'}{failures}"


def _note(runs: Runs, timing: Timing) -> None:
    runs.wall_s.append(timing.wall_s)
    runs.cpu_s.append(timing.cpu_s)
    runs.details = timing.details


def _agree(task: str, timings: dict[str, Timing]) -> None:
    answers = {name: timing.answer for name, timing in timings.items() if timing.answer}
    if len(set(answers.values())) > 1:
        raise ContestantError(f"different answers to {task}: {answers}")
