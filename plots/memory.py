"""Memory against the budget over time."""

from collections.abc import Sequence
from typing import Any

from plots.figure import COLOURS, Margins, byte_unit, new_figure, png_of, put_texts, time_unit
from plots.rows import MemoryPoint, PlottedRun
from plots.ticks import numbers_on

MOST_POINTS = 2_000  # more than there are columns of pixels
HEIGHT_INCHES = 3.2
MARGINS = Margins(left=0.75, bottom=0.5)
LEAST_AXIS = 1e-9  # where nothing is known
RESERVED, RESIDENT, BUDGET = COLOURS[0], COLOURS[3], "black"
HEADROOM = 1.25  # over the highest line, for the legend to cover none
FAR = 4  # times the peak: a budget above it would press the lines flat, and is told in words


def memory_png(run: PlottedRun) -> bytes:
    """Bytes reserved, and resident where they are known, against the budget, as a PNG."""
    return png_of(memory_figure(run))


def memory_figure(run: PlottedRun) -> Any:
    """What `memory_png` draws, as matplotlib's figure."""
    figure, axes = new_figure(HEIGHT_INCHES, MARGINS)
    points = thinned(run.memory)
    budget_bytes, most_bytes = run.budget_bytes, max((point.most_bytes for point in points), default=0)
    is_far = budget_bytes is not None and budget_bytes > FAR * most_bytes > 0
    most_bytes = most_bytes if is_far else max(most_bytes, budget_bytes or 0)
    second, time_name = time_unit(run.end_s)
    byte, byte_name = byte_unit(most_bytes)
    times = [point.at_s / second for point in points]
    reserved = [point.reserved_bytes / byte for point in points]
    axes.fill_between(times, reserved, step="post", color=RESERVED, alpha=0.25, linewidth=0)
    axes.step(times, reserved, where="post", color=RESERVED, label="reserved")
    measured = [point for point in points if point.rss_bytes is not None]
    if measured:
        rss = [(point.rss_bytes or 0) / byte for point in measured]
        known = [point.at_s / second for point in measured]
        axes.step(known, rss, where="post", color=RESIDENT, linewidth=1, label="resident")
    if budget_bytes is not None:
        label = "budget" if not is_far else f"budget, far above at {_in_its_unit(budget_bytes)}"
        at = float("nan") if is_far else budget_bytes / byte
        axes.axhline(at, color=BUDGET, linestyle="--", label=label)
    for along, most in {"x": run.end_s / second, "y": most_bytes / byte * HEADROOM}.items():
        numbers_on(axes, along, max(most, LEAST_AXIS))
    put_texts(axes, MARGINS, f"Memory of {run.title}", time_name, f"memory, {byte_name}")
    axes.legend(loc="upper right", ncols=3, fontsize=8)
    return figure


def _in_its_unit(size_bytes: int) -> str:
    byte, name = byte_unit(size_bytes)
    return f"{size_bytes / byte:.4g} {name}"


def thinned(points: Sequence[MemoryPoint]) -> list[MemoryPoint]:
    """At most MOST_POINTS of them: of each slice of time that with most memory, so that peaks stay, and the
    last, which holds for longest where nothing comes after it.
    """
    if len(points) <= MOST_POINTS:
        return list(points)
    first_s, end_s = points[0].at_s, points[-1].at_s
    slices = MOST_POINTS // 2 - 1
    kept: dict[int, tuple[MemoryPoint, MemoryPoint]] = {}
    for point in points:
        place = int((point.at_s - first_s) / (end_s - first_s) * slices) if end_s > first_s else 0
        greatest = kept[place][0] if place in kept else point
        kept[place] = (point if point.most_bytes > greatest.most_bytes else greatest, point)
    return [point for greatest, last in kept.values() for point in dict.fromkeys((greatest, last))]
