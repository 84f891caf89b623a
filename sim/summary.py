"""The answers of several seeds as one: every figure with its error bar."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.answers import LATENCY, Answers
from sim.intervals import Interval, interval_of
from sim.pool import Case, Pool
from sim.scenario import Scenario
from sim.verdict import Verdict
from sim.workload import Loop

WORST_FIRST: tuple[Verdict, ...] = ("overloaded", "backlogged", "stable")


@dataclass(frozen=True)
class Summary:
    """Of a scenario over `seeds`. `agreed`: how many of them have this verdict or a worse one.

    Figures are those of sim.answers; where some seed is overloaded none tells a latency.
    """

    settings: Mapping[str, str]
    loop: Loop
    seeds: int
    verdict: Verdict | None
    agreed: int
    over_budget: bool
    cost: float | None
    figures: Mapping[str, Interval]
    by_seed: tuple[Answers, ...]

    @property
    def headline(self) -> str:
        """The verdict, and how sure it is."""
        if self.verdict is None:
            return "a proof begins when another ends, so it cannot be overloaded"
        return f"{self.verdict} ({self.agreed} of {self.seeds} seeds)"

    def mean(self, name: str, otherwise: float = 0.0) -> float:
        """Of a figure, where there is one."""
        found = self.figures.get(name)
        return otherwise if found is None else found.mean

    def values(self) -> dict[str, Any]:
        """As JSON values: each figure as its mean and its interval of 95 %."""
        return {
            "settings": dict(self.settings),
            "loop": self.loop,
            "seeds": self.seeds,
            "verdict": self.verdict,
            "verdict_agreed": self.agreed,
            "over_budget": self.over_budget,
            "cost": self.cost,
            "figures": {
                name: {"mean": each.mean, "low": each.low, "high": each.high}
                for name, each in self.figures.items()
            },
        }


def summary_of(scenario: Scenario, answers: Sequence[Answers]) -> Summary:
    """Of one scenario's answers by several seeds: the worst verdict that half of them, or more, have."""
    verdict, agreed = _verdict(answers)
    names = dict.fromkeys(name for each in answers for name in each.figures)
    silent = verdict == "overloaded"
    figures = {
        name: interval_of([each.figures[name] for each in answers if name in each.figures])
        for name in names
        if not (silent and name.startswith(LATENCY))
    }
    return Summary(
        scenario.settings or {},
        answers[0].loop,
        len(answers),
        verdict,
        agreed,
        any(each.over_budget for each in answers),
        scenario.cost,
        figures,
        tuple(answers),
    )


def _verdict(answers: Sequence[Answers]) -> tuple[Verdict | None, int]:
    counts, so_far = Counter(each.verdict for each in answers), 0
    for verdict in WORST_FIRST:
        so_far += counts[verdict]
        if counts[verdict] and 2 * so_far >= len(answers):
            return verdict, so_far
    return None, len(answers)


def summarize(scenarios: Sequence[Scenario], seeds: Sequence[int], pool: Pool) -> list[Summary]:
    """Each scenario played by each seed: the same seeds, so that differences are the scenarios'."""
    recording = pool.recording
    cases = [
        Case(scenario, seed, recording.target if recording and place < recording.seeds else None)
        for scenario in scenarios
        for place, seed in enumerate(seeds)
    ]
    answers, count = pool.play(cases), len(seeds)
    return [
        summary_of(scenario, answers[place * count : (place + 1) * count])
        for place, scenario in enumerate(scenarios)
    ]
