"""Which of several machines or settings is worth its cost."""

from collections.abc import Sequence
from math import inf, isfinite
from statistics import fmean

from sim.answers import Answers
from sim.intervals import Interval, interval_of
from sim.summary import Summary
from sim.verdict import OUT_OF_MEMORY, Verdict

RATE = "proofs_an_hour"
MISSED = "deadlines_missed_share["
TOLERANCE = 0.01
"""Of what a machine gives: nobody pays for less."""
LOST: tuple[Verdict, ...] = (OUT_OF_MEMORY, "fails", "overloaded")
"""Verdicts of which no goal can make anything good."""


def keeps_up(summary: Summary, late_share: float = 0.0) -> bool:
    """It is not overloaded, takes no more memory than there is, and makes every proof.

    Of each circuit's deadlines at most `late_share` are missed, in the mean over the seeds.
    """
    missed = [each for name, each in summary.figures.items() if name.startswith(MISSED)]
    return summary.verdict not in LOST and all(each.mean <= late_share for each in missed)


def worth(summary: Summary) -> float:
    """What a machine gives, in the mean over the seeds; see `worth_of`."""
    return fmean(map(worth_of, summary.by_seed))


def worth_of(answers: Answers) -> float:
    """What a machine gives: proofs an hour in a closed loop.

    An open one gives no more than what arrives, so there it is less latency: the mean of the p90s, negated.
    """
    if answers.loop == "closed":
        return answers.figures[RATE]
    latencies = [each for name, each in answers.figures.items() if name.startswith("latency_p90")]
    return -fmean(latencies) if latencies else -inf


def gain(before: Summary, after: Summary) -> Interval:
    """The share by which `after` gives more, seed by seed, so that it is known better than either."""
    pairs = [(worth_of(a), worth_of(b)) for a, b in zip(before.by_seed, after.by_seed, strict=True)]
    return interval_of([(b - a) / abs(a) if a and isfinite(a) and isfinite(b) else 0.0 for a, b in pairs])


def surely_more(before: Summary, after: Summary) -> bool:
    """`after` gives more than `before`, beyond the error, and by more than a hundredth."""
    found = gain(before, after)
    return found.mean > TOLERANCE and (found.low is None or found.low > 0)


def pareto_front(summaries: Sequence[Summary], late_share: float = 0.0) -> list[Summary]:
    """Those that surely give more than all that cost no more, the cheapest first.

    What does not keep up is left out, and so is what has no cost.
    """
    priced = [(each.cost, -worth(each), place) for place, each in enumerate(summaries)
              if each.cost is not None and keeps_up(each, late_share)]  # fmt: skip
    front: list[Summary] = []
    for *_, place in sorted(priced):
        if not front or surely_more(front[-1], summaries[place]):
            front.append(summaries[place])
    return front


def best_first(summaries: Sequence[Summary], late_share: float = 0.0) -> list[Summary]:
    """Those that keep up and give as much as the best, to within the error; the cheapest, which wins, first.

    Where nothing has a cost, the best is first.
    """
    able = [each for each in summaries if keeps_up(each, late_share)]
    if not able:
        return []
    best = max(able, key=worth)
    near = [each for each in able if each is best or not surely_more(each, best)]
    return sorted(near, key=lambda each: (inf if each.cost is None else each.cost, -worth(each)))
