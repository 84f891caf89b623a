"""Whether one set of times is really another than one before: the mean's change, and how sure it is."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from db.errors import HistoryError
from db.filters import EVERYTHING, Filter
from db.groups import Group, groups, known_values
from db.history import History
from db.models import Partition, Proof
from db.statistics import Dimension, grouped_by, percentile
from db.summaries import STAGES

Verdict = Literal["faster", "slower", "noise", "too few"]
CONFIDENCE = 0.99  # of each of six stages, so that one in twenty questions calls one changed wrongly
RESAMPLES = 2_000
MOST_SAMPLED = 250  # of more values so many are resampled, and the spread scaled to their number
FEWEST = 3
_SEED = 1  # the same question has the same answer


@dataclass(frozen=True)
class Change:
    """Of a stage's mean seconds: `change` is after over before, less 1; `low` to `high` its 99 % interval.

    `low` is -1 or above, since no mean is below zero; `high` is inf where `before` may as well be zero.
    "noise" where 0 lies in the interval; "too few" values to say where there are fewer than three.
    """

    stage: str
    before_count: int
    after_count: int
    before_s: float
    after_s: float
    change: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True)
class TrendPoint:
    """Partitions of a circuit under one version, or of one week or day, and the change since the last."""

    circuit: str
    point: str
    count: int
    mean_s: float
    p50_s: float
    change: Change | None


def compare_runs(history: History, before_id: str, after_id: str) -> list[Change]:
    """Each stage of the partitions that succeeded in both runs, those of circuits in both.

    Raises HistoryError where the runs have no circuit in common, or none of which a proof succeeded in both.
    """
    found = groups(history, Filter(state="succeeded", run_ids=(before_id, after_id)), STAGES)
    before, after = ([group for group in found if group.run_id == id_] for id_ in (before_id, after_id))
    common = {group.circuit for group in before} & {group.circuit for group in after}
    if not common:
        raise HistoryError(_why_nothing_in_common(history, before_id, after_id))
    sides = [[group for group in side if group.circuit in common] for side in (before, after)]
    return [change(*each) for each in zip(STAGES, *map(known_values, sides), strict=True)]


def _why_nothing_in_common(history: History, before_id: str, after_id: str) -> str:
    with history.read() as session:
        asked = select(Proof.run_id, Proof.circuit, Partition.state == "succeeded")
        asked = asked.join(Partition, Partition.proof_id == Proof.id, isouter=True).distinct()
        rows = session.execute(asked.where(Proof.run_id.in_((before_id, after_id)))).all()
    of = {id_: {circuit for run_id, circuit, _ in rows if run_id == id_} for id_ in (before_id, after_id)}
    common = of[before_id] & of[after_id]
    succeeded = {(run_id, circuit) for run_id, circuit, succeeded in rows if succeeded}
    for id_ in of:
        if common and not any((id_, circuit) in succeeded for circuit in common):
            names = ", ".join(sorted(common))
            return f"run {id_}: no proof of {names} succeeded in it, expected one; only those are compared"
    return f"runs {before_id} and {after_id}: no circuit was proved in both; compare runs of one circuit"


def trend(
    history: History,
    stage: str = "prove",
    by: Dimension = "version",
    where: Filter = EVERYTHING,
) -> list[TrendPoint]:
    """For each circuit the points in the order of their first run; partitions that succeeded only."""
    found = groups(history, replace(where, state="succeeded"), (stage,))
    points: list[TrendPoint] = []
    for (circuit,), of_circuit in sorted(grouped_by(found, ["circuit"]).items()):
        points += _points(circuit, stage, grouped_by(of_circuit, [by]))
    return points


def change(stage: str, before: NDArray[np.float32], after: NDArray[np.float32]) -> Change:
    """What became of a stage. The interval is the percentile bootstrap's (Efron 1979) of the change."""
    return _change(stage, _Resampled(before, _SEED), _Resampled(after, _SEED + 1))


def _change(stage: str, before: "_Resampled", after: "_Resampled") -> Change:
    counts, means = (before.count, after.count), (before.mean, after.mean)
    if min(counts) == 0 or before.mean == 0:
        return Change(stage, *counts, *means, 0.0, 0.0, 0.0, "too few")
    outside = 100 * (1 - CONFIDENCE) / 2
    changes = _ratios(after.means, before.means) - 1
    low, high = map(float, np.percentile(changes, [outside, 100 - outside], method="nearest"))
    verdict: Verdict = "slower" if low > 0 else "faster" if high < 0 else "noise"
    if min(counts) < FEWEST:
        verdict = "too few"
    return Change(stage, *counts, *means, after.mean / before.mean - 1, low, high, verdict)


class _Resampled:
    """Values by their number, their mean, and the means of RESAMPLES samples drawn from them."""

    def __init__(self, values: NDArray[np.float32], seed: int) -> None:
        self.count, self.mean = len(values), _mean(values)
        self.means = _resampled_means(values, np.random.default_rng(seed)) if len(values) else np.empty(0)


def _points(circuit: str, stage: str, by_point: dict[tuple[str, ...], list[Group]]) -> list[TrendPoint]:
    values = [known_values(some)[0] for some in by_point.values()]
    resampled = [_Resampled(each, _SEED + number) for number, each in enumerate(values)]
    changes = [None, *(_change(stage, before, after) for before, after in pairwise(resampled))]
    return [
        TrendPoint(circuit, point, each.count, each.mean, _median(seconds), changed)
        for (point,), seconds, each, changed in zip(by_point, values, resampled, changes, strict=True)
    ]


def _resampled_means(values: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float64]:
    some = random.choice(values, MOST_SAMPLED, replace=False) if len(values) > MOST_SAMPLED else values
    drawn = random.integers(0, len(some), (RESAMPLES, len(some)))
    means: NDArray[np.float64] = some[drawn].mean(axis=1, dtype=np.float64)
    scaled: NDArray[np.float64] = (means - _mean(some)) * (len(some) / len(values)) ** 0.5
    return np.maximum(scaled + _mean(values), 0)  # scaled, it may fall below what a mean of seconds can be


def _ratios(over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 where both are zero, inf where only what is under is."""
    ratios = np.where(over == 0, 1.0, np.inf)
    np.divide(over, under, out=ratios, where=under > 0)
    return ratios


def _mean(values: NDArray[np.float32]) -> float:
    return float(values.mean(dtype=np.float64)) if len(values) else 0.0


def _median(values: NDArray[np.float32]) -> float:
    return percentile(np.sort(values), 50) if len(values) else 0.0
