"""Points with error bars: one figure over another, such as proofs an hour over the machine's cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plots.figure import COLOURS, fit_title, new_figure, png_of

HEIGHT_INCHES = 4.0


@dataclass(frozen=True)
class Point:
    """`low` and `high` are the ends of the error bar; None: it has none."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True)
class Series:
    """Points of one name and colour; `joined` by a line in their order."""

    name: str
    points: tuple[Point, ...]
    joined: bool = False


def points_png(
    title: str, x_label: str, y_label: str, series: Sequence[Series], x_names: Sequence[str] = ()
) -> bytes:
    """The series with their error bars, as a PNG; y begins at 0. `x_names`: what x = 0, 1, … stand for."""
    return png_of(points_figure(title, x_label, y_label, series, x_names))


def points_figure(
    title: str, x_label: str, y_label: str, series: Sequence[Series], x_names: Sequence[str] = ()
) -> Any:
    """What `points_png` draws, as matplotlib's figure."""
    figure, axes = new_figure(HEIGHT_INCHES)
    for place, each in enumerate(series):
        errors = [[p.y - (p.y if p.low is None else p.low) for p in each.points],
                  [(p.y if p.high is None else p.high) - p.y for p in each.points]]  # fmt: skip
        xs, ys = [point.x for point in each.points], [point.y for point in each.points]
        style = "o-" if each.joined else "o"
        colour = COLOURS[place % len(COLOURS)]
        axes.errorbar(xs, ys, yerr=errors, fmt=style, capsize=3, color=colour, label=each.name)
        for point in each.points:
            if point.label:
                style_of = {"textcoords": "offset points", "fontsize": 7, "rotation": -30, "va": "top"}
                axes.annotate(point.label, (point.x, point.y), xytext=(4, -4), **style_of)
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    axes.set_ylim(bottom=0)
    if x_names:
        axes.set_xticks(range(len(x_names)), x_names, fontsize=7)
        axes.set_xlim(-0.5, len(x_names) - 0.5)
    fit_title(axes)
    if len(series) > 1:
        axes.legend(fontsize=8)
    return figure
