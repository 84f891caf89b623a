"""Pictures of capacity studies."""

from dataclasses import replace

from flows.study.studies import Swept
from plots import Point, Series, points_png
from sim.summary import Summary
from sim.sweep import RATE


def pareto_png(title: str, swept: Swept) -> bytes:
    """What each point gives over its cost, with its error bar, and the Pareto front as a line.

    Without costs, over the number of the point.
    """
    closed = swept.points[0].loop == "closed"
    what = "proofs an hour" if closed else "latency p90, minutes, of the slowest circuit"
    cost = "cost" if swept.points[0].cost is not None else "point"
    every = [
        replace(_point(each, place, closed), label="")  # those of the front are labelled
        for place, each in enumerate(swept.points)
        if _told(each, closed)
    ]
    front = [_point(each, 0, closed) for each in swept.front]
    series = [Series("all points", tuple(every))]
    if front:
        series.append(Series("Pareto front", tuple(front), joined=True))
    return points_png(title, cost, what, series)


def compared_png(title: str, summaries: list[Summary]) -> bytes:
    """What each way gives, one beside the other."""
    closed = summaries[0].loop == "closed"
    what = "proofs an hour" if closed else "latency p90, minutes, of the slowest circuit"
    points = tuple(_point(each, place, closed, by_place=True)
                   for place, each in enumerate(summaries) if _told(each, closed))  # fmt: skip
    return points_png(title, "case", what, [Series("cases", points)])


def _told(summary: Summary, closed: bool) -> bool:
    return closed or _slowest(summary) is not None


def _slowest(summary: Summary) -> str | None:
    names = [name for name in summary.figures if name.startswith("latency_p90")]
    return max(names, key=summary.mean, default=None)


def _point(summary: Summary, place: int, closed: bool, by_place: bool = False) -> Point:
    name, scale = (RATE, 1.0) if closed else (_slowest(summary) or "", 60.0)
    interval = summary.figures[name]
    low = None if interval.low is None else interval.low / scale
    high = None if interval.high is None else interval.high / scale
    x = float(place) if by_place or summary.cost is None else summary.cost
    label = ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in summary.settings.items())
    return Point(x, interval.mean / scale, low, high, label)
