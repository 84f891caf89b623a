"""Capacity studies as rows of tables."""

from collections.abc import Sequence

from flows.study.studies import Swept
from sim.compare import differences
from sim.intervals import Interval
from sim.plan import Plan
from sim.summary import Summary
from sim.titles import titled_figures
from sim.words import figure, percent

Rows = list[dict[str, str]]
MOST_LATENCIES = 3  # in a sentence


def in_a_sentence(summary: Summary) -> str:
    """What a run comes to: how long a closed loop takes; of an open one, whether the machine keeps up."""
    if summary.loop == "open":
        slowest = [
            f"{title} {figure(summary, name)}"
            for title, name in titled_figures(summary)
            if name.startswith("latency_p90")
        ]
        return "; ".join([summary.headline, *slowest[:MOST_LATENCIES]])
    proofs = figure(summary, "proofs")
    rate = f"{figure(summary, 'proofs_an_hour')} an hour"
    words = [f"{proofs} proof{'' if proofs == '1' else 's'} in {figure(summary, 'makespan_s')}, {rate}"]
    return "; ".join(words if summary.verdict == "completes" else [summary.headline, *words])


def figure_rows(summary: Summary) -> Rows:
    """What is worth telling: what it is, its value with its error, and the name that a goal calls it by."""
    return [
        {"figure": title, "value": figure(summary, name), "name": name}
        for title, name in titled_figures(summary)
    ]


def point_rows(swept: Swept) -> Rows:
    """Every point of a sweep, and what could not be played."""
    rows = [
        {**each.settings, "verdict": each.told, "cost": _cost(each), **_rate(each),
         "mark": swept.mark(each)}
        for each in swept.points
    ]  # fmt: skip
    return rows + [{**settings, "verdict": why} for settings, why in swept.refused]


def difference_rows(summaries: Sequence[Summary]) -> Rows:
    """Of each way its settings, and what it makes different from the first."""
    rows = []
    for each in summaries:
        changes = {found.name: found for found in differences(summaries[0], each)}
        rate = changes.get("proofs_an_hour")
        known = "sure" if rate is not None and rate.sure else "within the error"
        row = {"settings": _settings(each), "verdict": each.told, **_rate(each)}
        row["difference"] = "" if each is summaries[0] else known
        rows.append(row)
    return rows


def step_rows(found: Plan) -> Rows:
    """What one more of each part would gain."""
    return [
        {"step": " ".join(f"{key}={value}" for key, value in each.settings.items()),
         "gain": percent(each.gain), "sure": "yes" if each.sure else "within the error",
         "does not do": each.why_not}
        for each in found.steps
    ]  # fmt: skip


def _rate(summary: Summary) -> dict[str, str]:
    found = _interval(summary.figures["proofs_an_hour"])
    return {f"proofs an hour, {key}": value for key, value in found.items()}


def _interval(found: Interval) -> dict[str, str]:
    ends = {"low": found.low, "high": found.high}
    return {"mean": f"{found.mean:.6g}"} | {
        name: "" if end is None else f"{end:.6g}" for name, end in ends.items()
    }


def _cost(summary: Summary) -> str:
    return "" if summary.cost is None else f"{summary.cost:.0f}"


def _settings(summary: Summary) -> str:
    return " ".join(f"{key}={value}" for key, value in summary.settings.items()) or "as it is"
