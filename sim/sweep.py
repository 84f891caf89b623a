"""Which of several machines or settings is worth its cost."""

from collections.abc import Sequence

from sim.summary import Summary
from sim.verdict import OUT_OF_MEMORY, Verdict

RATE = "proofs_an_hour"
MISSED = "deadlines_missed_share["
LOST: tuple[Verdict, ...] = (OUT_OF_MEMORY, "fails", "overloaded")
"""Verdicts of which no goal can make anything good."""


def keeps_up(summary: Summary, late_share: float = 0.0) -> bool:
    """It is not overloaded, takes no more memory than there is, and makes every proof.

    Of each circuit's deadlines at most `late_share` are missed, in the mean over the seeds.
    """
    missed = [each for name, each in summary.figures.items() if name.startswith(MISSED)]
    return summary.verdict not in LOST and all(each.mean <= late_share for each in missed)


def worth(summary: Summary) -> float:
    """What a machine gives: proofs an hour in a closed loop.

    An open one gives no more than what arrives, so there it is less latency: the mean of the p90s, negated.
    """
    if summary.loop == "closed":
        return summary.mean(RATE)
    latencies = [each.mean for name, each in summary.figures.items() if name.startswith("latency_p90")]
    return -sum(latencies) / len(latencies) if latencies else float("-inf")


def pareto_front(summaries: Sequence[Summary], late_share: float = 0.0) -> list[Summary]:
    """Those of which no other costs as little or less and is worth as much or more, the cheapest first.

    What does not keep up is left out, and so is what has no cost.
    """
    priced = [(each.cost, -worth(each), place) for place, each in enumerate(summaries)
              if each.cost is not None and keeps_up(each, late_share)]  # fmt: skip
    front, best = [], float("-inf")
    for _, negated, place in sorted(priced):
        if -negated > best:
            best = -negated
            front.append(summaries[place])
    return front


def winner(summaries: Sequence[Summary], late_share: float = 0.0) -> Summary | None:
    """The cheapest of those that keep up and are worth as much as the best, to within its error bar."""
    able = [each for each in summaries if keeps_up(each, late_share)]
    if not able:
        return None
    best = max(able, key=worth)
    half = best.figures[RATE].half or 0.0
    slack = half if best.loop == "closed" else abs(worth(best)) * 0.01
    near = [each for each in able if worth(each) >= worth(best) - slack]
    return min(near, key=lambda each: (each.cost if each.cost is not None else 0.0, -worth(each)))
