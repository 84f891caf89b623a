"""Multiples of a workload's load among which the most is looked for, and where to begin to look."""

from collections.abc import Mapping
from math import log

from sim.pool import Case, Pool
from sim.question import Question
from sim.scenario import refusal
from sim.size import sizes_of
from sim.workload import OpenLoop

STEP = 1.05
BELOW, ABOVE = 60, 120  # steps from the workload's own load
MOST_PARTITIONS = 30_000
"""Of a run: with more it takes long, and tells hardly more."""
DAY_S = 86_400


def loads() -> tuple[str, ...]:
    """From the least to the most."""
    return tuple(f"{STEP**power:.4g}" for power in range(-BELOW, ABOVE + 1))


def load_near(load: float) -> int:
    """The place in `loads` that is next to it."""
    return min(max(0, BELOW + round(log(load) / log(STEP))), BELOW + ABOVE)


def most_load(question: Question, settings: Mapping[str, str], seed: int, pool: Pool) -> float:
    """About the multiple of the load at which the machine would never idle: more it cannot do.

    1 where the workload as it is cannot be simulated.
    """
    scenario = question.scenario(settings)
    if not isinstance(scenario.workload, OpenLoop) or refusal(scenario):
        return 1.0
    figures = pool.play([Case(scenario, seed)])[0].figures
    least_s = figures["speed_of_light_s"]
    return min(max(scenario.workload.duration_s / least_s, STEP**-BELOW), STEP**ABOVE) if least_s else 1.0


def short_enough(question: Question, settings: Mapping[str, str], most: float) -> str | None:
    """A duration in which about MOST_PARTITIONS arrive at the most load; None where all of it is so short."""
    workload = question.scenario(settings).workload
    if not isinstance(workload, OpenLoop):
        return None
    count = sum(each.partitions for each in sizes_of(workload)) * most
    days = max(1, int(workload.duration_s / DAY_S * MOST_PARTITIONS / max(count, 1)))
    return f"{days}d" if days * DAY_S < workload.duration_s else None
