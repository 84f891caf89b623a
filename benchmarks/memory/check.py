"""What a history shows: how far memory went above the budget, and whether each long wait has one cause."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from db import memory_samples, open_history, show_run, waits

LONG_S = 1.0


@dataclass(frozen=True)
class Found:
    """Of one run: bytes at most, samples, and waits of more than a second by their cause."""

    state: str
    samples: int
    greatest_gap_s: float
    rss_bytes: int
    anonymous_bytes: int
    reserved_bytes: int
    over_samples: int
    long_waits: dict[str, int]
    without_cause: int


def check(history_path: Path, run_id: str, start_bytes: int, budget_bytes: int) -> Found:
    """RSS is taken less what the process had at its start; `over_samples`: those above the budget."""
    with open_history(str(history_path)) as history:
        state = show_run(history, run_id).run.state
        samples, ended = memory_samples(history, run_id), waits(history, run_id)
    over = [(each.rss_bytes or 0) - start_bytes for each in samples]
    causes = [cause for cause, seconds in ended if seconds > LONG_S]
    gaps = [after.at_s - before.at_s for before, after in pairwise(samples)]
    return Found(
        state,
        len(samples),
        max(gaps, default=0.0),
        max(over),
        max((each.rss_bytes or 0) - (each.file_bytes or 0) for each in samples),
        max(each.reserved_bytes for each in samples),
        sum(each > budget_bytes for each in over),
        {cause: causes.count(cause) for cause in sorted({each for each in causes if each})},
        sum(cause is None for cause in causes),
    )
