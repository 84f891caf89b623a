"""The end of a run against a daemon: its sums, and what became of them since another run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bench.measured import MeasuredRun
from bench.outcome import Outcome, Summary, summary
from bench.trend import growth
from bench.watching import Watching
from db import Change, History, HistoryError, compare_runs
from plots import PageTable


@dataclass(frozen=True)
class Finished:
    """A run that is over. `changes`: against the run that it was compared with."""

    run_id: str
    folder: Path
    summary: Summary
    outcomes: tuple[Outcome, ...]
    rss_growth: float | None
    changes: tuple[Change, ...] = ()
    compared_with: str = ""


def conclude(run: MeasuredRun, watching: Watching) -> None:
    """What there is goes into results and report."""
    found = summary(watching.outcomes, watching.wanted or len(watching.outcomes))
    run.results |= {
        "proofs_asked": found.asked,
        "proofs_succeeded": found.succeeded,
        "proofs_failed": found.failed,
        "proofs_cancelled": found.cancelled,
        "seconds": found.seconds,
        "proofs_a_second": found.rate,
        "latency": None if found.latency is None else vars(found.latency),
        "stages": {stage: vars(each) for stage, each in found.stages.items()},
        "rss_growth": _rss_growth(run),
        "asked_why": watching.asked_why,
        "proofs": [each.as_dict() for each in watching.outcomes],
    }
    run.facts += found.lines()


def finished_run(run: MeasuredRun, watching: Watching) -> Finished:
    """The run as its caller sees it."""
    found = summary(watching.outcomes, watching.wanted or len(watching.outcomes))
    return Finished(run.folder.run_id, run.folder.path, found, tuple(watching.outcomes), _rss_growth(run))


def _rss_growth(run: MeasuredRun) -> float | None:
    return growth([each.at_s for each, _ in run.samples], [each.rss_bytes for each, _ in run.samples])


def compared(finished: Finished, history: History, before: str, run: MeasuredRun) -> Finished:
    """The same with what became of each stage since that run; it goes into results and report, too."""
    try:
        changes = compare_runs(history, before, finished.run_id)
    except HistoryError as error:
        run.say(f"not compared: {error}")
        return finished
    rows = tuple(
        (
            each.stage,
            f"{each.before_s:.3f} s",
            f"{each.after_s:.3f} s",
            f"{100 * each.change:+.1f} %",
            f"{100 * each.low:+.1f} to {100 * each.high:+.1f} %",
            each.verdict,
        )
        for each in changes
        if each.before_count and each.after_count
    )
    columns = ("stage", "before", "after", "change", "interval", "verdict")
    run.tables.append(PageTable(f"Against run {before}", columns, rows))
    run.results["vs"] = {"run_id": before, "changes": [vars(each) for each in changes]}
    return replace(finished, changes=tuple(changes), compared_with=before)
