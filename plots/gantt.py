"""Stages by resource: a line for each disk, synthesis slot and worker of a device, a bar for each stage."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import ceil, inf
from typing import Any

from plots.figure import COLOURS, Margins, new_figure, png_of, put_texts, time_unit
from plots.rows import Bar, PlottedRun
from plots.ticks import numbers_on, ticks_on

COLUMNS = 800  # of pixels, about: what is narrower than one would not be seen
EDGED = 4  # columns: only such a wide bar has an edge, which would hide a narrower one
LINE_INCHES = 0.24
LETTER_INCHES = 0.065  # of a line's name, a wide one
LINE_FONT_SIZE = 7.0
BAR_HEIGHT = 0.8
LEAST_AXIS = 1e-9  # where nothing is known
CIRCUITS_A_LINE = 6
FIRST = {"disk": 0, "synthesis": 1}
LAST = {"verify": 1}

Lines = Mapping[str, Sequence[Bar]]


def gantt_png(run: PlottedRun) -> bytes:
    """All stages of the run by resource and circuit, as a PNG.

    What is shorter than a column of pixels is drawn so wide, and of one colour what is closer together is one
    bar, as below the time is told.
    """
    return png_of(gantt_figure(run))


def gantt_figure(run: PlottedRun) -> Any:
    """What `gantt_png` draws, as matplotlib's figure."""
    lines, end_s = lines_of(run.bars), max([bar.ended_s for bar in run.bars], default=0.0)
    second, time_name = time_unit(end_s)
    circuits = sorted({bar.circuit for bar in run.bars})
    margins = _margins(lines, len(circuits))
    figure, axes = new_figure(margins.bottom + margins.top + LINE_INCHES * max(1, len(lines)), margins)
    colours = {circuit: COLOURS[place % len(COLOURS)] for place, circuit in enumerate(circuits)}
    column_s = end_s / COLUMNS
    drawn = _draw(axes, lines, colours, second, column_s)
    numbers_on(axes, "x", max(end_s / second, LEAST_AXIS))
    is_all = drawn == len(run.bars) and all(bar.ended_s - bar.started_s >= column_s for bar in run.bars)
    put_texts(axes, margins, f"Stages of {run.title}", time_name + ("" if is_all else _told(column_s)))
    _legend(figure, colours)
    return figure


def _margins(lines: Lines, circuits: int) -> Margins:
    """Room for the lines' names, and below for the time and the circuits."""
    longest = max(map(len, lines), default=0)
    return Margins(0.2 + LETTER_INCHES * longest, 0.5 + LINE_INCHES * ceil(circuits / CIRCUITS_A_LINE))


def _told(column_s: float) -> str:
    second, name = time_unit(column_s)
    return f"; no bar is drawn below {column_s / second:.3g} {name}, and closer ones as one"


def _draw(axes: Any, lines: Lines, colours: Mapping[str, str], second: float, column_s: float) -> int:
    """How many bars that makes."""
    from matplotlib.collections import PolyCollection

    boxes, faces, edges = [], [], []
    for place, line in enumerate(lines.values()):
        top, bottom = place - BAR_HEIGHT / 2, place + BAR_HEIGHT / 2
        spans = [(circuit, spans_of(bars, column_s)) for circuit, bars in _by_circuit(line)]
        # Where circuits share a column of pixels, that which there is least of is drawn last, and seen.
        for circuit, some in sorted(spans, key=lambda each: -sum(length for _, length in each[1])):
            for start_s, length_s in some:
                left, right = start_s / second, (start_s + length_s) / second
                boxes.append([(left, top), (left, bottom), (right, bottom), (right, top)])
                faces.append(colours[circuit])
                edges.append(0.3 if length_s >= EDGED * column_s else 0.0)
    bars = PolyCollection(boxes, facecolors=faces, edgecolors="white", linewidths=edges)
    axes.add_collection(bars, autolim=False)
    ticks_on(axes, "y", range(len(lines)), list(lines), LINE_FONT_SIZE)
    axes.set_ylim(max(1, len(lines)) - 0.5, -0.5)
    return len(boxes)


def _by_circuit(line: Sequence[Bar]) -> list[tuple[str, list[Bar]]]:
    found: dict[str, list[Bar]] = defaultdict(list)
    for bar in line:
        found[bar.circuit].append(bar)
    return sorted(found.items())


def spans_of(bars: Sequence[Bar], column_s: float) -> list[tuple[float, float]]:
    """Start and length of what is drawn of a line's bars, which are in order.

    None is narrower than a column of pixels. Two of a few columns with less than one between them are one,
    and so are those that overlap by being drawn so wide.
    """
    spans: list[tuple[float, float]] = []
    for bar in bars:
        start_s, length_s = bar.started_s, max(bar.ended_s - bar.started_s, column_s)
        last_s, last_length_s = spans[-1] if spans else (-inf, 0.0)
        apart_s = start_s - (last_s + last_length_s)
        are_narrow = max(length_s, last_length_s) < EDGED * column_s
        if apart_s < 0 or (are_narrow and apart_s < column_s):
            spans[-1] = (last_s, max(last_length_s, start_s + length_s - last_s))
        else:
            spans.append((start_s, length_s))
    return spans


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
