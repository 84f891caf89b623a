"""Ticks with their labels at a third of what matplotlib's own take, whose every tick is five artists."""

from collections.abc import Sequence
from typing import Any

MOST_TICKS = 9
STEPS = (1, 2, 2.5, 5, 10)
MARK_POINTS = 3.5
LABEL_POINTS = 7.0  # from the axis
FONT_SIZE = 10.0


def numbers_on(axes: Any, along: str, most: float) -> None:
    """Let the axis "x" or "y" go from 0 to `most`, with round numbers."""
    (axes.set_xlim if along == "x" else axes.set_ylim)(0, most)
    places = round_numbers(most)
    ticks_on(axes, along, places, in_as_many_decimals(places))


def ticks_on(
    axes: Any, along: str, places: Sequence[float], labels: Sequence[str], size: float = FONT_SIZE
) -> None:
    """Marks and labels at the places of the axis "x" or "y", which has no others."""
    from matplotlib.lines import Line2D
    from matplotlib.markers import TICKDOWN, TICKLEFT
    from matplotlib.text import Text

    figure, zeros = axes.figure, [0.0] * len(places)
    mark: Any
    at: tuple[Sequence[float], Sequence[float]]
    if along == "x":
        axes.set_xticks([])
        mark, beside, at = TICKDOWN, axes.get_xaxis_transform(), (places, zeros)
        where, down, across = axes.get_xaxis_text1_transform(LABEL_POINTS)
    else:
        axes.set_yticks([])
        mark, beside, at = TICKLEFT, axes.get_yaxis_transform(), (zeros, places)
        where, down, across = axes.get_yaxis_text1_transform(LABEL_POINTS)
    marks = Line2D(*at, linestyle="None", marker=mark, markersize=MARK_POINTS, markeredgewidth=0.8)
    marks.set(color="black", transform=beside)
    figure.add_artist(marks)
    for x, y, label in zip(*at, labels, strict=True):
        text = Text(x, y, label, fontsize=size, verticalalignment=down, horizontalalignment=across)
        text.set_transform(where)
        figure.add_artist(text)


def round_numbers(most: float) -> list[float]:
    """At most MOST_TICKS + 1, from 0 to no more than `most`, a round step apart."""
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(MOST_TICKS, steps=STEPS).tick_values(0.0, most)
    return [float(each) for each in found if each <= most]


def in_as_many_decimals(numbers: Sequence[float]) -> list[str]:
    """As texts, with the decimals that the longest needs."""
    decimals = max((len(f"{each:g}".partition(".")[2]) for each in numbers), default=0)
    return [f"{each:.{decimals}f}" for each in numbers]
