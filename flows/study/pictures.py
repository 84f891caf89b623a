"""Pictures of capacity studies."""

from dataclasses import dataclass, replace

from db import Filter, History, list_runs
from flows.study.studies import Swept
from plots import PlottedRun, Point, Series, plotted_run, points_png
from sim.summary import Summary
from sim.sweep import RATE

LATENCY = "latency_p90_s"


@dataclass(frozen=True)
class Pictured:
    """The run that is drawn of those that a question was answered by, and in words which that is."""

    run: PlottedRun
    words: str

    @property
    def lacks_stages(self) -> str:
        """Why there is no picture of its stages; "" where there is one."""
        return "" if self.run.bars else "in that run no stage came to its end: there is no picture of stages"


def pictured(history: History, summary: Summary) -> Pictured:
    """By the first seed, the run in which most was proved: of several starts of a process the first may be
    over before anything is. Of those that are alike, the first.
    """
    first = summary.by_seed[0]
    listed = list_runs(history, len(first.run_ids), Filter(run_ids=first.run_ids))
    by_id = {each.run.id: each for each in listed}
    runs = [by_id[run_id] for run_id in first.run_ids]
    most = max(runs, key=lambda each: (each.succeeded_count, each.seconds or 0.0)).run
    drawn = plotted_run(history, most.id)
    of = f", the first of {summary.seeds}" if summary.seeds > 1 else ""
    # Names of the runs differ in their end, which says the host and the start of its process.
    which = most.name.removeprefix(runs[0].run.name.removesuffix(first.first_host))
    return Pictured(replace(drawn, title=f"{drawn.title}, seed {first.seed}{of}"), summary.pictured(which))


def pareto_png(title: str, swept: Swept) -> bytes:
    """What each point gives over its cost, with its error bar, and the Pareto front as a line.

    Without costs, over the number of the point.
    """
    closed = swept.points[0].loop == "closed"
    what = "proofs an hour" if closed else "latency p90, minutes, of the slowest circuit"
    cost = "cost" if swept.points[0].cost is not None else "point"
    every = [  # those of the front are labelled
        _point(each, name, float(place) if each.cost is None else each.cost)
        for place, each in enumerate(swept.points)
        if (name := RATE if closed else _slowest(each))
    ]
    front = [
        _point(each, RATE if closed else _slowest(each), each.cost or 0.0, _label(each))
        for each in swept.front
    ]
    series = [Series("all points", tuple(every))]
    if front:
        series.append(Series("Pareto front", tuple(front), joined=True))
    return points_png(title, cost, what, series)


def compared_png(title: str, summaries: list[Summary]) -> bytes:
    """What each way gives, one beside the other; of an open loop each circuit's latency."""
    x_names = _case_names(summaries)
    if summaries[0].loop == "closed":
        points = tuple(_point(each, RATE, float(place)) for place, each in enumerate(summaries))
        return points_png(title, "", "proofs an hour", [Series("cases", points)], x_names)
    names = sorted({name for each in summaries for name in each.figures if name.startswith(LATENCY)})
    series = []
    for name in names:
        told = [(place, each) for place, each in enumerate(summaries) if name in each.figures]
        points = tuple(_point(each, name, float(place)) for place, each in told)
        series.append(Series(name.partition("[")[2].rstrip("]"), points))
    return points_png(title, "", "latency p90, minutes", series, x_names)


def _case_names(summaries: list[Summary]) -> list[str]:
    """What sets each apart from the others, a line each."""
    keys = dict.fromkeys(key for each in summaries for key in each.settings)
    varied = [key for key in keys if len({each.settings.get(key) for each in summaries}) > 1]
    return [
        "\n".join(f"{key}={each.settings[key]}" for key in varied if key in each.settings) or "as it is"
        for each in summaries
    ]


def _slowest(summary: Summary) -> str:
    """The latency of the slowest circuit; "" where none is told."""
    names = [name for name in summary.figures if name.startswith(LATENCY)]
    return max(names, key=summary.mean, default="")


def _point(summary: Summary, name: str, x: float, label: str = "") -> Point:
    scale = 1.0 if name == RATE else 60.0
    interval = summary.figures[name]
    low = None if interval.low is None else interval.low / scale
    high = None if interval.high is None else interval.high / scale
    return Point(x, interval.mean / scale, low, high, label)


def _label(summary: Summary) -> str:
    return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in summary.settings.items())
