"""Figures of a simulation in words and units, with their error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from config import format_size
from sim.intervals import Interval

if TYPE_CHECKING:
    from sim.summary import Summary

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0
ABSENT = "–"


def figure(summary: Summary, name: str) -> str:
    """A figure of a summary, or a dash where it has none."""
    found = summary.figures.get(name)
    return ABSENT if found is None else worded(name, found)


def worded(name: str, interval: Interval) -> str:
    """The mean in the unit that the figure's name calls for, ± half of its interval."""
    kind = name.partition("[")[0]
    if kind.endswith("_bytes"):
        text = [format_size(round(each)) for each in _parts(interval)]
    elif kind.endswith("_share"):
        text = [f"{100 * each:.3g} %" for each in _parts(interval)]
    elif kind.endswith("_s"):
        text = _seconds(*_parts(interval))
    else:
        text = [number(each) for each in _parts(interval)]
    return " ± ".join(text)


def quantity(name: str, value: float) -> str:
    """A value of the figure, in the unit that its name calls for."""
    return worded(name, Interval(value, None, None, 1))


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def seconds(value: float) -> str:
    """In the unit that reads well."""
    return _seconds(value)[0]


def signed(name: str, value: float) -> str:
    """A difference of two figures, in the figure's unit."""
    kind, sign, size = name.partition("[")[0], "−" if value < 0 else "+", abs(value)
    if kind.endswith("_bytes"):
        return sign + format_size(round(size))
    if kind.endswith("_share"):
        return f"{sign}{size * 100:.3g} points"
    return sign + (seconds(size) if kind.endswith("_s") else number(size))


def _parts(interval: Interval) -> list[float]:
    return [interval.mean, interval.half] if interval.half else [interval.mean]


def _seconds(mean_s: float, *halves_s: float) -> list[str]:
    scales = ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "min"), (1.0, "s"))
    scale, unit = next(((s, u) for s, u in scales if abs(mean_s) >= 3 * s), (1.0, "s"))
    texts = [f"{each / scale:.3g}" for each in (mean_s, *halves_s)]
    return [*texts[:-1], f"{texts[-1]} {unit}"]
