"""A run that is measured: its folder, a monitor beside the work, and at the end results and a report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.monitor import Monitor, ProcessSample, Target
from bench.report import report_page
from bench.run_folder import RunFolder
from config import Config, format_size
from db import new_id
from plots import Bar, PageTable

Say = Callable[[str], None]


@dataclass
class MeasuredRun:
    """What is known of a run while it goes on; what the work adds here is in its results and report.

    results: for results.json. reserved_bytes: asked with each sample, 0 where nothing is reserved. monitor:
    None where nothing can be watched from here. not_known: what a person was told of so. also: told of each
    sample. begun_s: its start, by time.monotonic().
    """

    folder: RunFolder
    title: str
    budget_bytes: int | None
    interval_s: float
    stack: ExitStack
    begun_s: float = field(default_factory=time.monotonic)
    results: dict[str, Any] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    tables: list[PageTable] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    samples: list[tuple[ProcessSample, int]] = field(default_factory=list)
    reserved_bytes: Callable[[], int] = lambda: 0
    also: Callable[[ProcessSample, int], None] = lambda _sample, _reserved_bytes: None
    monitor: Monitor | None = None
    not_known: set[str] = field(default_factory=set)

    @property
    def say(self) -> Say:
        """To a person, and into the run's log."""
        return self.folder.say

    @property
    def peak_rss_bytes(self) -> int | None:
        """As sampled."""
        return max((each.rss_bytes for each, _ in self.samples), default=None)

    def take(self, sample: ProcessSample) -> None:
        """A monitor's sink."""
        reserved_bytes = self.reserved_bytes()
        self.samples.append((sample, reserved_bytes))
        self.folder.sample(sample, reserved_bytes=reserved_bytes)
        self.also(sample, reserved_bytes)

    def watch(self, target: Target) -> None:
        """Sample `target` until the run is over. Raises BenchError where it cannot be watched."""
        monitor = Monitor(target, [self.take], self.say, self.interval_s, self.begun_s, self.not_known)
        self.monitor = self.stack.enter_context(monitor)


@contextmanager
def measured_run(
    title: str,
    command: Sequence[str],
    config: Config,
    plan: Mapping[str, Any],
    show: Say,
    target: Target | None = None,
    *,
    budget_bytes: int | None = None,
    interval_s: float = 1.0,
) -> Iterator[MeasuredRun]:
    """Inside the block the run goes on. However it ends, results and report are written of what there is."""
    with RunFolder(new_id(), show) as folder:
        folder.write_plan(command, config, plan)
        run = MeasuredRun(folder, title, budget_bytes, interval_s, ExitStack())
        run.say(f"run      {folder.path}")
        state = "failed"
        try:
            with run.stack:
                if target is not None:
                    run.watch(target)
                yield run
            state = "succeeded"
        except (KeyboardInterrupt, asyncio.CancelledError):
            state = "cancelled"
            raise
        except Exception as error:
            run.results.setdefault("error", str(error))
            raise
        finally:
            run.results.setdefault("state", state)
            _write(run)


def _write(run: MeasuredRun) -> Path:
    run.results = {
        "run_id": run.folder.run_id,
        "title": run.title,
        "peak_rss_bytes": run.peak_rss_bytes,
        "peak_reserved_bytes": max((reserved for _, reserved in run.samples), default=None),
        "budget_bytes": run.budget_bytes,
        "samples": len(run.samples),
    } | run.results
    run.folder.write_results(run.results)
    facts = [f"state: {run.results['state']}", *run.facts]
    if run.peak_rss_bytes is not None:
        facts.append(f"peak RSS {format_size(run.peak_rss_bytes)}")
    page = report_page(
        f"{run.title}, run {run.folder.run_id}", run.budget_bytes, run.samples, run.bars, facts, run.tables
    )
    path = run.folder.write("report.html", page)
    run.say(f"report   {path}")
    return path
