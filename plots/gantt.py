"""Stages by resource: a line for each disk, synthesis slot and worker of a device, a bar for each stage."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import ceil
from typing import Any

from plots.figure import COLOURS, Margins, new_figure, png_of, time_unit
from plots.rows import Bar, PlottedRun

MOST_BARS = 3_000  # a picture of more is a grey block
LINE_INCHES = 0.24
LETTER_INCHES = 0.065  # of a line's name, a wide one
BAR_HEIGHT = 0.8
CIRCUITS_A_LINE = 6
FIRST = {"disk": 0, "synthesis": 1}
LAST = {"verify": 1}

Lines = Mapping[str, Sequence[Bar]]


def gantt_png(run: PlottedRun) -> bytes:
    """The run's stages by resource and circuit, as a PNG. Of a long run the first MOST_BARS stages."""
    return png_of(gantt_figure(run))


def gantt_figure(run: PlottedRun) -> Any:
    """What `gantt_png` draws, as matplotlib's figure."""
    bars = sorted(run.bars, key=lambda bar: (bar.started_s, bar.ended_s, bar.resource, bar.circuit))
    shown = bars[:MOST_BARS]
    lines, end_s = lines_of(shown), max([bar.ended_s for bar in shown], default=0.0)
    second, time_name = time_unit(end_s)
    circuits = sorted({bar.circuit for bar in run.bars})
    margins = _margins(lines, len(circuits))
    figure, axes = new_figure(margins.bottom + margins.top + LINE_INCHES * max(1, len(lines)), margins)
    colours = {circuit: COLOURS[place % len(COLOURS)] for place, circuit in enumerate(circuits)}
    _draw(axes, lines, colours, second)
    axes.set_xlim(0, max(end_s / second, 1e-9))
    few = f"; the first {len(shown)} of {len(bars)} stages" if len(shown) < len(bars) else ""
    axes.set(xlabel=time_name, title=run.title + few)
    axes.title.set_fontsize(9)
    _legend(figure, colours)
    return figure


def _margins(lines: Lines, circuits: int) -> Margins:
    """Room for the lines' names, and below for the time and the circuits."""
    longest = max(map(len, lines), default=0)
    return Margins(0.2 + LETTER_INCHES * longest, 0.5 + LINE_INCHES * ceil(circuits / CIRCUITS_A_LINE))


def _draw(axes: Any, lines: Lines, colours: Mapping[str, str], second: float) -> None:
    for place, line in enumerate(lines.values()):
        spans = defaultdict(list)
        for bar in line:
            spans[bar.circuit].append((bar.started_s / second, (bar.ended_s - bar.started_s) / second))
        for circuit, some in spans.items():
            where = (place - BAR_HEIGHT / 2, BAR_HEIGHT)
            axes.broken_barh(some, where, facecolor=colours[circuit], edgecolor="white", linewidth=0.3)
    axes.set_yticks(range(len(lines)), list(lines), fontsize=7)
    axes.set_ylim(max(1, len(lines)) - 0.5, -0.5)


def lines_of(bars: Sequence[Bar]) -> Lines:
    """The bars of each line, by its name. Bars of a resource at once lie on lines of their own."""
    by_resource: dict[str, list[Bar]] = defaultdict(list)
    for bar in bars:
        by_resource[bar.resource].append(bar)
    lines: dict[str, list[Bar]] = {}
    for resource in sorted(by_resource, key=lambda name: (FIRST.get(name, 2), LAST.get(name, 0), name)):
        apart = _apart(by_resource[resource])
        for number, line in enumerate(apart, start=1):
            lines[resource if len(apart) == 1 else f"{resource} · {number}"] = line
    return lines


def _apart(bars: Sequence[Bar]) -> list[list[Bar]]:
    """As few lines as can be on which no two bars overlap, each bar on the first that is free."""
    lines: list[list[Bar]] = []
    free: list[int] = []
    busy: list[tuple[float, int]] = []  # until when, and which line
    for bar in sorted(bars, key=lambda bar: (bar.started_s, bar.ended_s)):
        while busy and busy[0][0] <= bar.started_s:
            heappush(free, heappop(busy)[1])
        if not free:
            lines.append([])
            heappush(free, len(lines) - 1)
        number = heappop(free)
        lines[number].append(bar)
        heappush(busy, (bar.ended_s, number))
    return lines


def _legend(figure: Any, colours: Mapping[str, str]) -> None:
    if colours:
        from matplotlib.patches import Patch

        patches = [Patch(color=colour, label=circuit) for circuit, colour in colours.items()]
        figure.legend(
            handles=patches, loc="lower center", ncols=min(CIRCUITS_A_LINE, len(patches)), fontsize=7
        )
