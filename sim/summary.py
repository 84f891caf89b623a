"""The answers of several seeds as one: every figure with its error bar."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.answers import LATENCY, Answers
from sim.intervals import Interval, interval_of, range_of
from sim.pool import Case, Pool
from sim.scenario import Scenario
from sim.verdict import OUT_OF_MEMORY, Load, Verdict
from sim.workload import Loop

ANY_SEED: tuple[Verdict, ...] = (OUT_OF_MEMORY, "fails")
"""These are the whole's as soon as they are one seed's: money is lost by what happens once in a while."""
WORST_FIRST: tuple[Load, ...] = ("overloaded", "backlogged", "stable")


@dataclass(frozen=True)
class Summary:
    """Of a scenario over `seeds`. `verdicts`: how many of them have each.

    Figures are those of sim.answers; where some seed is overloaded none tells a latency.
    """

    settings: Mapping[str, str]
    loop: Loop
    seeds: int
    verdict: Verdict
    verdicts: Mapping[Verdict, int]
    over_budget: bool
    cost: float | None
    figures: Mapping[str, Interval]
    by_seed: tuple[Answers, ...]

    @property
    def headline(self) -> str:
        """The verdict, and how sure it is; and where it keeps up, whether all is in time."""
        counts = [f"{self.verdicts[self.verdict]} of {self.seeds} seed{'' if self.seeds == 1 else 's'}"]
        counts += [
            f"{count} {verdict}" for verdict, count in self.verdicts.items() if verdict != self.verdict
        ]
        late = any(self.mean(name) for name in self.figures if name.startswith("deadlines_missed["))
        return f"{self.told} ({', '.join(counts)}){', with deadlines missed' if late else ''}"

    @property
    def told(self) -> str:
        """The verdict with its number, the same wherever it stands."""
        if self.verdict != "fails":
            return self.verdict
        failed = self.mean("proofs_failed")
        share = failed / (failed + self.mean("proofs") + self.mean("proofs_unfinished"))
        return f"fails: {100 * share:.3g} % of proofs"

    def pictured(self, which: str) -> str:
        """What of all the runs pictures show: that of a host, by its name, and of a start of its process."""
        count, several = len(self.by_seed[0].run_ids), self.mean("hosts") > 1
        what = f"that of {count} runs in which most was proved" if count > 1 else "the run"
        what += f", of host {which}{' alone' if several else ''}," if count > 1 or several else ""
        each = ": there is one for each host and each start of its process" if count > 1 or several else ""
        return f"pictures show {what} by the first seed{each}"

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
            "verdict": self.told,
            "verdicts": dict(self.verdicts),
            "over_budget": self.over_budget,
            "cost": self.cost,
            "figures": {
                name: {"mean": each.mean, "low": each.low, "high": each.high}
                for name, each in self.figures.items()
            },
        }


def summary_of(scenario: Scenario, answers: Sequence[Answers]) -> Summary:
    """Of one scenario's answers by several seeds: the worst verdict that half of them, or more, have.

    Memory that does not do and proofs that fail are the verdict as soon as one seed has them.
    """
    load = _load(answers)
    verdicts = Counter(each.verdict for each in answers)
    verdict = next((each for each in ANY_SEED if verdicts[each]), load or "completes")
    names = dict.fromkeys(name for each in answers for name in each.figures)
    silent = load == "overloaded"
    figures = {
        name: interval_of([each.figures[name] for each in answers if name in each.figures], *range_of(name))
        for name in names
        if not (silent and name.startswith(LATENCY))
    }
    return Summary(
        scenario.settings or {},
        answers[0].loop,
        len(answers),
        verdict,
        verdicts,
        any(each.over_budget for each in answers),
        scenario.cost,
        figures,
        tuple(answers),
    )


def _load(answers: Sequence[Answers]) -> Load | None:
    counts, so_far = Counter(each.load for each in answers), 0
    for load in WORST_FIRST:
        so_far += counts[load]
        if counts[load] and 2 * so_far >= len(answers):
            return load
    return None


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
