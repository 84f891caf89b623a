"""Several values over the same time, a line each."""

from collections.abc import Mapping, Sequence
from typing import Any

from plots.figure import COLOURS, fit_title, new_figure, png_of, time_unit

HEIGHT_INCHES = 2.6
MOST_POINTS = 2_000  # more than there are columns of pixels


def lines_png(
    title: str, y_label: str, at_s: Sequence[float], lines: Mapping[str, Sequence[float | None]]
) -> bytes:
    """Each line's values at those times, as a PNG; None: not known then. y begins at 0."""
    return png_of(lines_figure(title, y_label, at_s, lines))


def lines_figure(
    title: str, y_label: str, at_s: Sequence[float], lines: Mapping[str, Sequence[float | None]]
) -> Any:
    """What `lines_png` draws, as matplotlib's figure. Of many points it shows every so manieth."""
    figure, axes = new_figure(HEIGHT_INCHES)
    second, time_name = time_unit(max(at_s, default=0.0))
    step = max(1, -(-len(at_s) // MOST_POINTS))
    times = [each / second for each in at_s[::step]]
    for place, (name, values) in enumerate(lines.items()):
        shown = [float("nan") if value is None else value for value in values[::step]]
        axes.plot(times, shown, color=COLOURS[place % len(COLOURS)], label=name, linewidth=1.2)
    axes.set(xlabel=time_name, ylabel=y_label, title=title)
    axes.set_xlim(0, max([*times, 1e-9]))
    axes.set_ylim(bottom=0)
    fit_title(axes)
    if lines:
        axes.legend(loc="upper left", fontsize=7, ncols=2)
    return figure
