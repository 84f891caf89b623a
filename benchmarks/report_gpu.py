"""What a GPU did, as a table: times, the field products that they take, and their share of the roofline."""

from __future__ import annotations

from benchmarks.contestants.registry import GPU
from benchmarks.results import Measurement, Result, Runs
from benchmarks.table import table

PREFIX = "gpu "
COLUMNS = "what", "curve", "size", "ms", "", "field products", "of the roofline"
OPERATIONS = "mul", "square"


def is_of_gpu(measurement: Measurement) -> bool:
    return measurement.task.startswith(PREFIX)


def gpu_section(result: Result) -> str:
    """Empty where nothing was measured on one."""
    shown = [each for each in result.measurements if is_of_gpu(each) and GPU in each.runs]
    if not shown:
        return ""
    rates = _rates(result)
    return "### On the GPU\n\n" + table(COLUMNS, (_row(each, each.runs[GPU], rates) for each in shown))


def _rates(result: Result) -> dict[str, float]:
    """Seconds a product takes on the whole device, by the field's name."""
    rates = {}
    for each in result.measurements:
        operation, _, field = each.task.removeprefix(PREFIX).partition(" ")
        if is_of_gpu(each) and operation == "mul" and GPU in each.runs:
            rates[field] = min(each.runs[GPU].wall_s) / float(each.runs[GPU].details["operations"])
    return rates


def _row(each: Measurement, runs: Runs, rates: dict[str, float]) -> tuple[str, ...]:
    spread = f"± {100 * runs.spread:.0f} %" if len(runs.wall_s) > 1 else "once"
    task, products = each.task.removeprefix(PREFIX), sum(each.products.values())
    return (
        task,
        each.curve,
        f"{each.size:,}",
        f"{1e3 * runs.median_s:,.4g}",
        spread,
        f"{products / 1e6:,.0f} million" if products else _rate(task, each, runs),
        _roofline(each, runs, rates),
    )


def _rate(task: str, each: Measurement, runs: Runs) -> str:
    """Of what is no sum, transform or proof: how much a second."""
    if task.split()[0] in OPERATIONS:
        return f"{runs.details['operations'] / runs.median_s / 1e9:.1f} G/s"
    return f"{each.size / runs.median_s / 1e9:.1f} GB/s" if task == "upload" else ""


def _roofline(each: Measurement, runs: Runs, rates: dict[str, float]) -> str:
    if not each.products or each.products.keys() - rates.keys():
        return ""
    floor_s = sum(count * rates[field] for field, count in each.products.items())
    return f"{100 * floor_s / runs.median_s:.0f} %"
