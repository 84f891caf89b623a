"""What the figures of a simulation are called where people read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.summary import Summary

MACHINE_ROWS = (
    ("proofs", "proofs"),
    ("proofs an hour", "proofs_an_hour"),
    ("seconds a proof", "seconds_a_proof"),
    ("from the first to the last", "makespan_s"),
    ("the least that its work allows", "speed_of_light_s"),
    ("peak memory reserved", "peak_reserved_bytes"),
    ("of a budget of", "budget_bytes"),
    ("peak memory resident", "peak_resident_bytes"),
    ("devices busy", "device_use_share"),
    ("loads of SRS and PCE", "loads"),
    ("of them again", "reloads"),
    ("evictions", "evictions"),
    ("proofs tried again", "proofs_retried"),
    ("proofs failed", "proofs_failed"),
    ("proofs not done", "proofs_unfinished"),
)
OF_SEVERAL = {
    "peak_reserved_bytes": "most memory reserved on a host",
    "budget_bytes": "of a budget, the largest, of",
    "peak_resident_bytes": "most memory resident on a host",
}
"""Titles of what is no sum over the hosts, where there are several."""
ALWAYS = ("proofs", "proofs_an_hour", "makespan_s", "peak_reserved_bytes", "budget_bytes", "device_use_share")
OF = {
    "latency_p50_s": "latency p50 of",
    "latency_p90_s": "latency p90 of",
    "latency_p99_s": "latency p99 of",
    "deadlines_due": "deadlines of",
    "deadlines_missed": "deadlines missed of",
    "deadlines_missed_share": "share of deadlines missed of",
    "binding_share": "share of the time bound by",
    "waited_s": "partitions waited for",
}
"""By the figure's kind: what it is called before that of which it is."""
UNLESS_NOUGHT = ("binding_share", "waited_s")


def machine_figures(summary: Summary) -> Iterator[tuple[str, str]]:
    """Title and name of what the machine did; what is nought is left out unless one would ask for it."""
    for title, name in MACHINE_ROWS:
        if name in summary.figures and (name in ALWAYS or summary.mean(name)):
            yield OF_SEVERAL.get(name, title) if summary.mean("hosts") > 1 else title, name


def titled_figures(summary: Summary) -> Iterator[tuple[str, str]]:
    """As `machine_figures`, and then those of each circuit, of waits and of what bound the machine."""
    yield from machine_figures(summary)
    for kind, title in OF.items():
        for name in summary.figures:
            if name.startswith(f"{kind}[") and (kind not in UNLESS_NOUGHT or summary.mean(name)):
                yield f"{title} {in_brackets(name)}", name


def in_brackets(name: str) -> str:
    """What a figure is of."""
    return name.partition("[")[2].rstrip("]")
