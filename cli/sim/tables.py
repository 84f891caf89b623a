"""The tables in which the simulator answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.table import PlainTable, table
from groth16.output import replacing
from sim.titles import in_brackets, machine_figures
from sim.words import ABSENT, LEAST, figure, legible, number, quantity, signed, worded

if TYPE_CHECKING:
    from sim.compare import Difference
    from sim.summary import Summary

LATENCIES = ("p50", "p90", "p99")
WAITS = {
    "memory": "memory",
    "cores": "synthesis slot",
    "synthesis slots": "synthesis slot",
    "devices": "device",
    "loads of keys": "load",
    "device memory": "device memory",
    "batching": "batch",
    "fixed concurrency": "concurrency",
}
"""By the resource: the cause of the waits that it is to blame for."""
SHOWN = (
    "proofs_an_hour",
    "latency_",
    "deadlines_missed_share",
    "peak_",
    "device_use",
)
"""How figures begin that a comparison shows, in this order; JSON and CSV have all."""
RATE = "proofs_an_hour"
TOO_MUCH = {
    "reserved_too_much_bytes": "up to {} more memory is reserved than the budget; "
    "run fewer at once, or give more",
    "resident_too_much_bytes": "up to {} more memory is resident than the machine has; "
    "a larger memory.safety_margin leaves room for what is not reserved",
}


def explained(summary: Summary) -> list[str]:
    """What a verdict means that is not good, and what to do, a line each."""
    return lacking([summary]) + short_of_slots(summary)


def lacking(summaries: Sequence[Summary]) -> list[str]:
    """Of what there is too little of in some of them, by how much at most, and what to do; a line each."""
    seeds = [answers for each in summaries for answers in each.by_seed]
    most = {name: max(each.figures.get(name, 0.0) for each in seeds) for name in TOO_MUCH}
    return [TOO_MUCH[name].format(quantity(name, value)) for name, value in most.items() if value]


def short_of_slots(summary: Summary) -> list[str]:
    """A line for each circuit that misses deadlines and waits for a synthesis slot more than for all else."""
    return [
        f"{circuit} misses deadlines, and {figure(summary, f'slot_wait_share[{circuit}]')} of its waits are "
        "for a synthesis slot, all being taken; more machine.synthesis_slots may let it begin in time"
        for circuit in circuits_of(summary)
        if summary.mean(f"deadlines_missed[{circuit}]") and summary.mean(f"slot_wait_share[{circuit}]") > 0.5
    ]


def peak_memory(summary: Summary) -> str:
    """What is reserved at most; where that is within the budget, and still too much, what is resident."""
    if summary.mean("resident_too_much_bytes") and not summary.mean("reserved_too_much_bytes"):
        return f"{figure(summary, 'peak_resident_bytes')} resident"
    return figure(summary, "peak_reserved_bytes")


def figures_table(summary: Summary) -> PlainTable:
    """What the machine did; what is nought is left out unless one would ask for it."""
    made = table("over all", "", right=("",))
    for title, name in machine_figures(summary):
        made.add_row(title, figure(summary, name))
    return made


def circuits_table(summary: Summary) -> PlainTable:
    """Latency by circuit, and deadlines. An overloaded machine has no latencies."""
    late = any(name.startswith("deadlines") for name in summary.figures)
    heads = (*LATENCIES, "deadlines missed") if late else LATENCIES
    made = table("latency of", *heads, right=heads)
    for circuit in circuits_of(summary):
        cells = [figure(summary, f"latency_{each}_s[{circuit}]") for each in LATENCIES]
        made.add_row(circuit, *cells, *([missed(summary, circuit)] if late else []))
    return made


def missed(summary: Summary, circuit: str) -> str:
    """The share of a circuit's deadlines, and of how many in all seeds; a dash where it has none."""
    share = figure(summary, f"deadlines_missed_share[{circuit}]")
    due = sum(each.figures.get(f"deadlines_due[{circuit}]", 0.0) for each in summary.by_seed)
    return f"{share} of {number(due)}" if due else share


def _most_missed(summary: Summary) -> str:
    """Of the circuit that misses most, by name; of all together where none misses any."""
    circuit = _slowest(summary, "deadlines_missed_share")
    if summary.mean(f"deadlines_missed_share[{circuit}]"):
        return f"{missed(summary, circuit)} {circuit}"
    due = sum(value for each in summary.by_seed for name, value in each.figures.items()
              if name.startswith("deadlines_due["))  # fmt: skip
    return f"0 % of {number(due)}" if due else ABSENT


def circuits_of(summary: Summary) -> list[str]:
    """Those that have a latency or deadlines."""
    names = [name for name in summary.figures if name.startswith(("latency_p50", "deadlines_missed["))]
    return sorted({in_brackets(name) for name in names})


def limits_table(summary: Summary) -> PlainTable:
    """What bound the machine for which share of the time, and for what partitions waited altogether."""
    right = ("share of the time", "partitions waited")
    made, told = table("bound by", *right, right=right), set[str]()
    for name, interval in summary.figures.items():
        if name.startswith("binding_share") and interval.mean:
            resource = in_brackets(name)
            waited = f"waited_s[{WAITS.get(resource, '')}]"
            waits = summary.figures.get(waited)
            cell = ABSENT if waits is None else legible(waited, waits) if waited not in told else "as above"
            told.add(waited)
            made.add_row(resource, legible(name, interval), cell)
    return made


def points_table(summaries: Sequence[Summary], marks: Sequence[str] = ()) -> PlainTable:
    """A row a point of a sweep or comparison."""
    keys = varying(summaries)
    late = any(name.startswith("deadlines") for each in summaries for name in each.figures)
    closed = summaries[0].loop == "closed"  # else as many are made as arrive
    figures = {"proofs an hour": closed, "latency p90": True, "deadlines missed": late}
    told = [head for head, is_told in figures.items() if is_told]
    right = (*told, "peak memory", "devices busy", "cost")
    made = table("", *keys, "verdict", *told, "peak memory", "devices busy", "bound by", "cost", right=right)
    for summary, mark in zip(summaries, marks or [""] * len(summaries), strict=True):
        given = [summary.settings.get(key, ABSENT) for key in keys]
        cells = {
            "proofs an hour": figure(summary, RATE),
            "latency p90": figure(summary, f"latency_p90_s[{_slowest(summary, 'latency_p90_s')}]"),
            "deadlines missed": _most_missed(summary),
        }
        cost = ABSENT if summary.cost is None else number(summary.cost)
        machine = [peak_memory(summary), figure(summary, "device_use_share")]
        told_cells = [cells[head] for head in told]
        made.add_row(mark, *given, summary.told, *told_cells, *machine, bound_by(summary), cost)
    return made


def varying(summaries: Sequence[Summary]) -> list[str]:
    """The settings in which they differ."""
    keys = dict.fromkeys(key for each in summaries for key in each.settings)
    return [key for key in keys if len({each.settings.get(key) for each in summaries}) > 1]


def differences_table(found: Sequence[Difference]) -> PlainTable:
    """Of two ways: each figure of both, and how sure it is that they differ."""
    right = ("as it is", "changed", "difference")
    made = table("figure", *right, "", right=right)
    for each in sorted(found, key=lambda each: _place(each.name)):
        known = "sure" if each.sure else "within the error"
        made.add_row(
            each.name,
            worded(each.name, each.first),
            worded(each.name, each.other),
            signed(each.name, each.more),
            known,
        )
    return made


def _place(name: str) -> int:
    return next(place for place, begins in enumerate(SHOWN) if name.startswith(begins))


def bound_by(summary: Summary) -> str:
    """The resource that bound it most of the time in which something waited, and its share of all time."""
    shares = {
        in_brackets(name): interval.mean
        for name, interval in summary.figures.items()
        if name.startswith("binding_share") and "nothing" not in name and interval.mean
    }
    if not shares:
        return "nothing"
    name = max(shares, key=lambda name: shares[name])
    least = LEAST["_share"]
    if shares[name] < least:
        return f"{name} < {two_digits(100 * least)} %"
    return f"{name} {two_digits(100 * shares[name])} %"


def two_digits(value: float) -> str:
    """Or all before the point."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def _slowest(summary: Summary, kind: str) -> str:
    """The circuit of which a figure is the greatest; "" where none has it."""
    names = [name for name in summary.figures if name.startswith(f"{kind}[")]
    return in_brackets(max(names, key=summary.mean)) if names else ""


def write_csv(summaries: Sequence[Summary], path: Path) -> None:
    """A row a point: its settings, then of each figure the mean and the ends of its interval."""
    keys = list(dict.fromkeys(key for each in summaries for key in each.settings))
    names = list(dict.fromkeys(name for each in summaries for name in each.figures))
    text = io.StringIO()
    heads = [f"{name}{end}" for name in names for end in ("", " low", " high")]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys, "loop", "seeds", "verdict", "over_budget", "cost", *heads])
    for each in summaries:
        row: list[object] = [each.settings.get(key, "") for key in keys]
        row += [
            each.loop,
            each.seeds,
            each.told,
            each.over_budget,
            "" if each.cost is None else each.cost,
        ]
        for name in names:
            found = each.figures.get(name)
            row += ["", "", ""] if found is None else [found.mean, found.low, found.high]
        writer.writerow(["" if cell is None else cell for cell in row])
    with replacing(path) as file:
        file.write(text.getvalue().encode())
