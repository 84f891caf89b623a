"""The page of a simulated run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cli.sim.tables import circuits_of, explained, missed
from sim.words import figure, worded

if TYPE_CHECKING:
    from flows.study.pictures import Pictured
    from plots import PageTable
    from sim.summary import Summary


def page_of(pictured: Pictured, summary: Summary, pictures: Mapping[str, bytes]) -> str:
    """Everything in one HTML file: the verdict, every figure with its error bar, and the pictures."""
    from plots import PageTable, html_page

    facts = [f"{summary.loop} loop: {summary.headline}"]
    facts += [*explained(summary), *filter(None, [pictured.words, pictured.lacks_stages])]
    facts += [f"{key} = {value}" for key, value in summary.settings.items()]
    latencies = ("p50", "p90", "p99")
    rows = tuple(
        (circuit, *(figure(summary, f"latency_{each}_s[{circuit}]") for each in latencies),
         missed(summary, circuit))
        for circuit in circuits_of(summary)
    )  # fmt: skip
    by_circuit = PageTable("Latency by circuit", ("circuit", *latencies, "deadlines missed"), rows)
    return html_page(pictured.run, facts, [by_circuit, _all_figures(summary, PageTable)], own=pictures)


def _all_figures(summary: Summary, made: type[PageTable]) -> PageTable:
    rows = tuple((name, worded(name, each)) for name, each in summary.figures.items())
    return made("Figures, mean ± half of the 95 % interval", ("figure", "value"), rows)
