"""What a machine that is looked for has to do, and what of it is not met."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from config import nearest
from sim.answers import LATENCY, Answers
from sim.errors import SimError
from sim.quantities import duration, share, size
from sim.summary import Summary
from sim.sweep import LOST, MISSED
from sim.titles import MACHINE_ROWS, OF
from sim.words import quantity, worded

OF_EACH = (*OF, "slot_wait_share")
"""Figures of a circuit or resource each, whose name follows in brackets."""
OF_ALL = (
    *(name for _, name in MACHINE_ROWS),
    "hosts",
    "unbegun_share",
    "reserved_too_much_bytes",
    "resident_too_much_bytes",
)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_GOAL = re.compile(r"\s*([a-z0-9_]+(?:\[[^\]]+\])?)\s*(<=|>=)\s*(\S+)\s*")


@dataclass(frozen=True)
class Goal:
    """A bound on a figure, for every seed's mean; such as latency_p99_s[porep-32g] <= 7200."""

    figure: str
    at_most: bool
    bound: float

    def holds(self, summary: Summary) -> bool:
        """A figure that is not told, as of an overloaded machine, meets no bound."""
        found = summary.figures.get(self.figure)
        if found is None:
            return False
        return found.mean <= self.bound if self.at_most else found.mean >= self.bound

    def is_within_error(self, summary: Summary) -> bool:
        """Whether the interval of the figure holds the bound, so that other seeds might say otherwise."""
        found = summary.figures.get(self.figure)
        if found is None or found.low is None or found.high is None:
            return False
        return found.low < self.bound < found.high

    def __str__(self) -> str:
        return f"{self.figure} {'<=' if self.at_most else '>='} {quantity(self.figure, self.bound)}"


@dataclass(frozen=True)
class Bounds:
    """Goals, and the share of each circuit's deadlines that may be missed."""

    goals: tuple[Goal, ...]
    late_share: float


def read_goal(text: str) -> Goal:
    """FIGURE<=VALUE or FIGURE>=VALUE; durations, sizes and percentages may have their units."""
    found = _GOAL.fullmatch(text)
    if found is None:
        raise SimError(f"--goal {text!r}: expected such as latency_p99_s[porep-32g]<=2h or proofs_an_hour>=2")
    figure, sign, value = found.groups()
    _check_kind(text, figure)
    return Goal(figure, sign == "<=", _bound(text, figure, value))


def read_share(text: str) -> float:
    """A share such as "1%"; a number without % could be meant as either, and is refused."""
    try:
        return share(text)
    except ValueError as error:
        raise SimError(f"--late: {error}") from error


def _check_kind(text: str, figure: str) -> None:
    """Before anything is played; which circuits there are is known only then."""
    kind, bracket, _ = figure.partition("[")
    if kind not in OF_EACH + OF_ALL:
        guess = nearest(kind, OF_EACH + OF_ALL)
        hint = f"did you mean {guess!r}?" if guess else f"expected one of {', '.join(OF_EACH + OF_ALL)}"
        raise SimError(f"--goal {text!r}: there is no figure {kind!r}; {hint}")
    if bool(bracket) != (kind in OF_EACH):
        form = f"{kind}[NAME], of one circuit or resource" if kind in OF_EACH else f"{kind}, which is of all"
        raise SimError(f"--goal {text!r}: found {figure!r}, expected {form}")


def _bound(text: str, figure: str, value: str) -> float:
    name = figure.partition("[")[0]
    try:
        if name.endswith("_s"):
            return duration(value)
        if name.endswith("_bytes"):
            return float(size(value))
        return share(value) if name.endswith("_share") else _number(value)
    except ValueError as error:
        raise SimError(f"--goal {text!r}: {error}") from error


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"found {text!r}, expected a number, as the figure has no unit")
    return float(text)


def hopeless(answers: Sequence[Answers], seeds: int, late_share: float) -> bool:
    """Whether no answers by the rest of the `seeds` can make the mean of all good enough."""
    missed: dict[str, float] = defaultdict(float)
    for each in answers:
        for name, value in each.figures.items():
            if name.startswith(MISSED):
                missed[name] += value
    return (
        any(total > seeds * late_share for total in missed.values())
        or any(each.over_budget for each in answers)
        or any(each.figures["proofs_failed"] + each.figures["proofs_unfinished"] for each in answers)
        or 2 * sum(each.load == "overloaded" for each in answers) >= seeds
    )


def why_not(summary: Summary, bounds: Bounds) -> str:
    """What is not met, with its figure; "" if all is."""
    if summary.verdict in LOST:
        return summary.told
    for name, interval in summary.figures.items():
        if name.startswith(MISSED) and interval.mean > bounds.late_share:
            circuit = name.partition("[")[2].rstrip("]")
            error = _error(Goal(name, True, bounds.late_share), summary)
            return f"{worded(name, interval)} of the deadlines of {circuit} missed{error}"
    missed = next((goal for goal in bounds.goals if not goal.holds(summary)), None)
    if missed is None:
        return ""
    if missed.figure not in summary.figures:
        _check_name(missed.figure, summary)
    return f"{missed} does not hold: {_told(missed.figure, summary)}{_error(missed, summary)}"


def barely_met(summary: Summary, bounds: Bounds) -> list[str]:
    """What is met, and within the error might not be."""
    found = [
        f"{goal}: {_told(goal.figure, summary)}" for goal in bounds.goals if goal.is_within_error(summary)
    ]
    for name, interval in summary.figures.items():
        if name.startswith(MISSED) and (interval.high or 0.0) > bounds.late_share:
            found.append(f"{Goal(name, True, bounds.late_share)}: {_told(name, summary)}")
    return found


def _error(goal: Goal, summary: Summary) -> str:
    return ", which is within the error" if goal.is_within_error(summary) else ""


def _told(figure: str, summary: Summary) -> str:
    found = summary.figures.get(figure)
    return "not told" if found is None else worded(figure, found)


def _check_name(figure: str, summary: Summary) -> None:
    """Raise SimError for a figure of no such name or circuit; one of no proof is just not told."""
    name, _, circuit = figure.rstrip("]").partition("[")
    parts = [each.rstrip("]").partition("[") for each in summary.figures]
    known_circuit = not circuit or circuit in {each[2] for each in parts}
    if known_circuit and (name.startswith(LATENCY) or name in {each[0] for each in parts}):
        return
    guess = next(iter(get_close_matches(figure, summary.figures, 1)), None)
    hint = f"did you mean {guess!r}?" if guess else "`cuzk sim run --json` names all"
    raise SimError(f"--goal: there is no figure {figure!r}; {hint}")
