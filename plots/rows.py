"""What is drawn of a run: its memory over time, and its stages as bars by the resource that they took."""

from dataclasses import dataclass

from db import History, Span, find_run, memory_samples, stage_spans

RESOURCES = {"load": "disk", "synthesize": "synthesis", "verify": "verify"}
"""By the stage's name. A partition proves on its device; waits take no resource."""


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """Bytes at one moment, which hold until the next; `rss_bytes` None where it is not known."""

    at_s: float
    reserved_bytes: int
    rss_bytes: int | None = None

    @property
    def most_bytes(self) -> int:
        """The larger of the two."""
        return max(self.reserved_bytes, self.rss_bytes or 0)


@dataclass(frozen=True, slots=True)
class Bar:
    """A stage of a partition on a resource, such as "disk", "synthesis" or a device's name."""

    resource: str
    circuit: str
    started_s: float
    ended_s: float


@dataclass(frozen=True)
class PlottedRun:
    """A run as it is drawn; times are seconds since its start. `budget_bytes` None: it had no bound."""

    title: str
    budget_bytes: int | None
    memory: tuple[MemoryPoint, ...]
    bars: tuple[Bar, ...]

    @property
    def end_s(self) -> float:
        """When the last that is drawn ends."""
        ends_s = [bar.ended_s for bar in self.bars] + [point.at_s for point in self.memory[-1:]]
        return max(ends_s, default=0.0)


def plotted_run(history: History, run_id: str) -> PlottedRun:
    """A run of the history, real or simulated, as `memory_png`, `gantt_png` and `html_page` take it.

    A stage that never ended, or took no time, is left out. Raises HistoryError where there is no such run.
    """
    run = find_run(history, run_id)
    memory = (
        MemoryPoint(each.at_s, each.reserved_bytes, each.rss_bytes)
        for each in memory_samples(history, run_id)
    )
    # Partitions that wait for the same load are one bar.
    bars = dict.fromkeys(bar for span in stage_spans(history, run_id) if (bar := _bar(span)))
    return PlottedRun(f"{run.name}, {run.source} run {run.id}", run.budget_bytes, tuple(memory), tuple(bars))


def _bar(span: Span) -> Bar | None:
    resource = span.device if span.stage == "prove" else RESOURCES.get(span.stage)
    if resource is None or span.ended_s is None or span.ended_s <= span.started_s:
        return None
    return Bar(resource, span.circuit, span.started_s, span.ended_s)
