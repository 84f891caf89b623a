"""The inverse question: the least that does, what binds it, and what would be the next better step."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from config import ConfigError, format_size, parse_duration, parse_size
from sim.compare import differences
from sim.errors import SimError
from sim.intervals import Interval
from sim.meter import NOTHING
from sim.pool import Pool
from sim.question import Question
from sim.scenario import refusal
from sim.summary import Summary, summarize
from sim.sweep import MISSED, keeps_up, worth

MOST_MEMORY_BYTES = 4 * 2**40
MEMORY_STEP = "32GiB"
LEAST_GAIN = 0.005
LOADS_BELOW, LOADS_ABOVE = 60, 80  # steps of 5 % from the workload's own load
FIRST_STEP = 4
FINDS = ("memory", "gpus", "hosts", "load")
_GOAL = re.compile(r"\s*([a-z0-9_]+(?:\[[^\]]+\])?)\s*(<=|>=)\s*(\S+)\s*")


@dataclass(frozen=True)
class Axis:
    """What is looked for: values of a setting, from the least to the most.

    `rising`: more of it helps. Of the load less helps, and the most that does is looked for.
    """

    name: str
    key: str
    values: tuple[str, ...]
    rising: bool = True


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

    def __str__(self) -> str:
        return f"{self.figure} {'<=' if self.at_most else '>='} {self.bound:g}"


@dataclass(frozen=True)
class Bounds:
    """Goals, and the share of each circuit's deadlines that may be missed."""

    goals: tuple[Goal, ...]
    late_share: float


@dataclass(frozen=True)
class Step:
    """A change to the machine that was found, and by what share it makes it better."""

    settings: Mapping[str, str]
    gain: float
    sure: bool
    summary: Summary


@dataclass(frozen=True)
class Plan:
    """`least` is the value that does, None if none; `below` the next that does not, and why.

    `binding` is the resource that most often bound the machine where it does, with its share of the time;
    `steps` the changes that were tried, the best first.
    """

    axis: Axis
    least: str | None
    found: Summary | None
    below: str | None
    why_not: str
    binding: tuple[str, Interval] | None
    steps: tuple[Step, ...]

    @property
    def next_step(self) -> Step | None:
        """That which gains most for what it costs more, or where costs are not known, most; None: no gain."""
        sure = [step for step in self.steps if step.sure and step.gain >= LEAST_GAIN]
        return max(sure, key=self._worth_of, default=None)

    def _worth_of(self, step: Step) -> float:
        before = None if self.found is None else self.found.cost
        if before is None or step.summary.cost is None:
            return step.gain
        return step.gain / max(step.summary.cost - before, 1e-9)


def axis_of(find: str, step: str = MEMORY_STEP) -> Axis:
    """What `--find` names. Raises SimError."""
    if find == "memory":
        return Axis(find, "machine.memory", _sizes(step))
    if find == "gpus":
        return Axis(find, "machine.gpus", tuple(map(str, range(1, 17))))
    if find == "hosts":
        return Axis(find, "machine.hosts", tuple(map(str, range(1, 65))))
    if find == "load":
        return Axis(
            find, "workload.load", tuple(f"{1.05**power:.4g}" for power in range(-LOADS_BELOW, 81)), False
        )
    raise SimError(f"--find {find}: expected one of {', '.join(FINDS)}")


def _sizes(step: str) -> tuple[str, ...]:
    try:
        step_bytes = parse_size(step)
    except ConfigError as error:
        raise SimError(f"--step: {error}") from error
    if step_bytes < MOST_MEMORY_BYTES // 10_000:
        raise SimError(f"--step {step}: expected at least 512MiB")
    return tuple(format_size(number * step_bytes) for number in range(1, MOST_MEMORY_BYTES // step_bytes + 1))


def read_goal(text: str) -> Goal:
    """FIGURE<=VALUE or FIGURE>=VALUE; durations, sizes and percentages may have their units."""
    found = _GOAL.fullmatch(text)
    if found is None:
        raise SimError(f"--goal {text!r}: expected such as latency_p99_s[porep-32g]<=2h or proofs_an_hour>=2")
    figure, sign, value = found.groups()
    return Goal(figure, sign == "<=", _bound(text, figure, value))


def read_share(text: str) -> float:
    """A share such as "1%" or "0.01"."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SimError(f"--late {text}: expected a share of the deadlines such as 1%")
    return share


def _bound(text: str, figure: str, value: str) -> float:
    name = figure.partition("[")[0]
    try:
        if name.endswith("_s"):
            return parse_duration(value)
        if name.endswith("_bytes"):
            return float(parse_size(value))
        return float(value.removesuffix("%")) / 100 if value.endswith("%") else float(value)
    except (ConfigError, ValueError) as error:
        raise SimError(f"--goal {text!r}: {error}") from error


def plan(
    question: Question,
    axis: Axis,
    goals: Sequence[Goal],
    seeds: Sequence[int],
    pool: Pool,
    settings: Mapping[str, str] | None = None,
    late_share: float = 0.0,
) -> Plan:
    """Look for the least of the axis by halving, then try what would come next.

    The machine keeps up (see sim.sweep.keeps_up) and every goal holds, in the mean over the seeds.
    """
    given, tried = dict(settings or {}), dict[int, tuple[Summary | None, str]]()
    bounds = Bounds(tuple(goals), late_share)

    def does(place: int) -> bool:
        if place not in tried:
            tried[place] = _try(question, given | {axis.key: axis.values[place]}, bounds, seeds, pool)
        return not tried[place][1]

    count = len(axis.values)
    place = _first(count, does) if axis.rising else _last(count, does, LOADS_BELOW)
    if place is None:
        extreme = len(axis.values) - 1 if axis.rising else 0
        summary, why = tried[extreme]
        return Plan(axis, None, summary, axis.values[extreme], why, _binding(summary), ())
    beyond = place - 1 if axis.rising else place + 1
    within = 0 <= beyond < len(axis.values)
    found = tried[place][0]
    assert found is not None, "what does has been played"
    steps = _steps(question, given | {axis.key: axis.values[place]}, found, seeds, pool)
    return Plan(
        axis,
        axis.values[place],
        found,
        axis.values[beyond] if within else None,
        tried[beyond][1] if within else "",
        _binding(found),
        steps,
    )


def _first(count: int, does: Callable[[int], bool]) -> int | None:
    """The first place from which on it does."""
    low, high = 0, count - 1
    if not does(high):
        return None
    if does(low):
        return low
    return _halved(low, high, does)


def _last(count: int, does: Callable[[int], bool], start: int) -> int | None:
    """The last place up to which it does. Too much is dear to try, so it goes up from `start` by degrees."""
    step = FIRST_STEP if does(start) else -FIRST_STEP
    place = start
    while True:
        beyond = min(max(place + step, 0), count - 1)
        if does(beyond) is not (step > 0):
            good, bad = (place, beyond) if step > 0 else (beyond, place)
            return _halved(bad, good, does)
        if beyond in (0, count - 1):
            return beyond if step > 0 else None
        place, step = beyond, 2 * step


def _halved(bad: int, good: int, does: Callable[[int], bool]) -> int:
    """The place next to one that does not, between one that does not and one that does."""
    while abs(good - bad) > 1:
        middle = (bad + good) // 2
        if does(middle):
            good = middle
        else:
            bad = middle
    return good


def _try(
    question: Question, settings: Mapping[str, str], bounds: Bounds, seeds: Sequence[int], pool: Pool
) -> tuple[Summary | None, str]:
    """The summary, and why it does not do; "" if it does."""
    try:
        scenario = question.scenario(settings)
    except SimError as error:  # such as memory that is less than the margin
        return None, str(error)
    if why := refusal(scenario):
        return None, why
    summary = summarize([scenario], seeds, pool)[0]
    return summary, why_not(summary, bounds)


def why_not(summary: Summary, bounds: Bounds) -> str:
    """What is not met, with its figure; "" if all is."""
    if summary.verdict == "overloaded":
        return "overloaded"
    if summary.over_budget:
        return "more memory reserved than the budget, or resident than there is"
    for name, interval in summary.figures.items():
        if name.startswith(MISSED) and interval.mean > bounds.late_share:
            circuit = name.partition("[")[2].rstrip("]")
            return f"{interval.mean:.2%} of the deadlines of {circuit} missed"
    if not keeps_up(summary, bounds.late_share):
        return "some proofs fail"
    missed = next((goal for goal in bounds.goals if not goal.holds(summary)), None)
    if missed is None:
        return ""
    found = summary.figures.get(missed.figure)
    return f"{missed} does not hold: {'not told' if found is None else f'{found.mean:.4g}'}"


def _binding(summary: Summary | None) -> tuple[str, Interval] | None:
    shares = {} if summary is None else {
        name.partition("[")[2].rstrip("]"): interval
        for name, interval in summary.figures.items()
        if name.startswith("binding_share") and NOTHING not in name
    }  # fmt: skip
    if not shares or not max(each.mean for each in shares.values()):
        return None
    name = max(shares, key=lambda name: shares[name].mean)
    return name, shares[name]


def _steps(
    question: Question, settings: Mapping[str, str], found: Summary, seeds: Sequence[int], pool: Pool
) -> tuple[Step, ...]:
    """More of each part of the first host, each by itself."""
    if not question.profile.hosts:
        return ()
    host = question.hosts(settings)[0]
    changes = {
        "machine.gpus": str(host.gpus + 1),
        "machine.memory": format_size(host.memory + max(2**30, host.memory // 4)),
        "machine.hosts": str(host.count + 1),
        "machine.synthesis_slots": str((host.synthesis_slots or host.cores) * 5 // 4 + 1),
        "machine.disks": str(host.disks + 1),
    }
    scenarios = [question.scenario({**settings, key: value}) for key, value in changes.items()]
    tried = zip(changes.items(), summarize(scenarios, seeds, pool), strict=True)
    steps = [Step({key: value}, *_gain(found, summary), summary) for (key, value), summary in tried]
    return tuple(sorted(steps, key=lambda step: -step.gain))


def _gain(found: Summary, better: Summary) -> tuple[float, bool]:
    """By which share it is worth more, and whether that is no accident of the seeds."""
    before, after = worth(found), worth(better)
    gain = (after - before) / abs(before) if before and abs(before) < float("inf") else 0.0
    prefix = "proofs_an_hour" if found.loop == "closed" else "latency_p90"
    return gain, any(each.sure for each in differences(found, better) if each.name.startswith(prefix))
