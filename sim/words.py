"""Figures of a simulation in words and units, with their error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.intervals import Interval

if TYPE_CHECKING:
    from sim.summary import Summary

SECONDS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
LEAST_OF_A_UNIT = 3  # below that many the next smaller unit reads better
BYTES = tuple((1024.0**power, unit) for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB")))
LEAST = {"_share": 1e-4, "_s": 1e-3}
"""By how a figure's name ends: what is less is told as less than that."""
LEAST_ERROR_PERCENT = 5e-5  # of a share: none of its digits that are told would change
ABSENT = "–"


def figure(summary: Summary, name: str) -> str:
    """A figure of a summary, or a dash where it has none."""
    found = summary.figures.get(name)
    return ABSENT if found is None else worded(name, found)


def worded(name: str, interval: Interval) -> str:
    """The mean in the unit that the figure's name calls for, ± half of its interval.

    Of an interval that the figure's range cuts off, its ends instead; of none, the mean alone.
    """
    scale, unit = _unit(name, interval.mean)
    mean = _mean(name, interval.mean / scale)
    if interval.half is None or _error(name, interval.half / scale) == "0":
        return mean + unit
    if interval.even:
        return f"{mean} ± {_error(name, interval.half / scale)}{unit}"
    low, high = (_mean(name, (end or 0.0) / scale) for end in (interval.low, interval.high))
    return f"{mean} ({low} to {high}){unit}" if {low, high} != {mean} else mean + unit


def legible(name: str, interval: Interval) -> str:
    """As `worded`, but of what is too little to be told from nothing only that it is so little."""
    kind = _kind(name)
    least = next((least for end, least in LEAST.items() if kind.endswith(end)), 0.0)
    if not 0 < interval.mean < least:
        return worded(name, interval)
    return f"< {quantity(name, least)}"


def quantity(name: str, value: float) -> str:
    """A value of the figure, in the unit that its name calls for."""
    return worded(name, Interval(value, None, None, 1))


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def percent(gain: Interval) -> str:
    """A gain or loss, as a share of what there was."""
    return signed("gain_share", gain).replace(" points", " %")


def signed(name: str, interval: Interval) -> str:
    """A difference of two figures, in the figure's unit, with its error."""
    sign, size, half = "−" if interval.mean < 0 else "+", abs(interval.mean), interval.half
    low, high = (None, None) if half is None else (size - half, size + half)
    text = worded(name, Interval(size, low, high, interval.count))
    return sign + (text.replace(" %", " points") if _kind(name).endswith("_share") else text)


def _kind(name: str) -> str:
    return name.partition("[")[0]


def _unit(name: str, value: float) -> tuple[float, str]:
    """The unit in which the value reads well: how much it is, and what stands behind the number."""
    kind = _kind(name)
    if kind.endswith("_share"):
        return 0.01, " %"
    if kind.endswith("_bytes"):
        return next(each for each in reversed(BYTES) if value >= each[0] or each[0] == 1)
    if kind.endswith("_s"):
        least = LEAST_OF_A_UNIT
        return next((s, f" {u}") for s, u in SECONDS if value >= least * s or s == 1)
    return 1.0, ""


def _mean(name: str, value: float) -> str:
    if _kind(name).endswith("_bytes"):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return number(value)


def _error(name: str, value: float) -> str:
    """Two digits, or all before the point; no more than those of their mean, of bytes and shares."""
    if value >= 9.95:
        return f"{value:,.0f}"
    least = {"_bytes": 0.005, "_share": LEAST_ERROR_PERCENT}
    too_little = any(_kind(name).endswith(end) and value < each for end, each in least.items())
    return "0" if too_little else f"{value:.2g}"
