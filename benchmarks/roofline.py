"""The least time that the work can take: its field products at the rate of products in registers."""

from __future__ import annotations

from benchmarks.results import Measurement, Result, Runs


def product_s(result: Result, who: str) -> dict[str, float]:
    """Seconds a product takes on one core, by the field's name."""
    rates: dict[str, float] = {}
    for measurement in result.measurements:
        operation, _, field = measurement.task.partition(" ")
        if operation == "mul" and who in measurement.runs:
            runs = measurement.runs[who]
            rates[field] = operation_s(runs)
    return rates


def operation_s(runs: Runs) -> float:
    """Of the fastest run, in processor time: nothing makes a chain of products faster than it is."""
    return min(runs.cpu_s) / float(runs.details["operations"])


def least_s(measurement: Measurement, rates: dict[str, float]) -> float | None:
    """On as many cores as there were threads; None if the products or a field's rate are not known."""
    products = measurement.products
    if not products or products.keys() - rates.keys():
        return None
    return sum(count * rates[field] for field, count in products.items()) / measurement.threads
