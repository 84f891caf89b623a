"""The inverse question: the least that does, what binds it, and what would be the next better step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from config import ConfigError, format_size, parse_size
from sim.answers import Answers
from sim.errors import NoEffectError, SimError, UnplayableError
from sim.goals import Bounds, Goal, barely_met, hopeless, why_not
from sim.halving import first, last
from sim.intervals import Interval
from sim.load import load_near, loads, most_load, short_enough
from sim.meter import NOTHING
from sim.pool import Case, Pool
from sim.question import Question
from sim.scenario import Scenario, refusal
from sim.summary import Summary, summarize, summary_of
from sim.sweep import gain

MOST_MEMORY_BYTES = 4 * 2**40
MEMORY_STEP = "32GiB"
LEAST_GAIN = 0.005
AT_ONCE = 2  # seeds that are played before it is asked whether others can still help
FINDS = ("memory", "gpus", "hosts", "load")


@dataclass(frozen=True)
class Axis:
    """What is looked for: values of a setting, from the least to the most.

    `rising`: more of it helps. Of the load less helps, and the most that does is looked for. `steady`: what
    more than enough is does, too; GPUs beyond that may need more memory than there is.
    """

    name: str
    key: str
    values: tuple[str, ...]
    rising: bool = True
    steady: bool = True


@dataclass(frozen=True)
class Step:
    """A change to the machine that was found, and by what share it makes it better. `more_cost`: of it.

    `why_not`: what the machine does not do any more with it; "" if all.
    """

    settings: Mapping[str, str]
    gain: Interval
    summary: Summary
    more_cost: float | None
    why_not: str = ""

    @property
    def sure(self) -> bool:
        """Its gain, or loss, is no accident of the seeds."""
        low, high = self.gain.low, self.gain.high
        return low is not None and high is not None and (low > 0 or high < 0)

    def worth(self, gain: float | None) -> float:
        """So much gain for what it costs more; where that is not known, the gain."""
        return (gain or 0.0) / (1.0 if self.more_cost is None else max(self.more_cost, 1e-9))


@dataclass(frozen=True)
class Plan:
    """`least` is the value that does, None if none; `below` the next that does not, and why.

    `binding` is the resource that most often bound the machine where it does, with its share of the time;
    `steps` the changes that were tried, the best first. `barely`: what is met to within the error alone.
    `shortened`: how long the workload was made to last where all of it would take long to simulate.
    """

    axis: Axis
    least: str | None
    found: Summary | None
    below: str | None
    why_not: str
    binding: tuple[str, Interval] | None
    steps: tuple[Step, ...]
    shortened: str | None = None
    barely: tuple[str, ...] = ()

    @property
    def next_steps(self) -> tuple[Step, ...]:
        """Those that gain most for what they cost more, or where costs are not known, most.

        More than one where errors do not tell them apart, the best first; none where nothing surely gains.
        """
        able = [step for step in self.steps if not step.why_not]
        sure = [step for step in able if step.sure and step.gain.mean >= LEAST_GAIN]
        sure.sort(key=lambda step: -step.worth(step.gain.mean))
        return tuple(each for each in sure if each.worth(each.gain.high) >= sure[0].worth(sure[0].gain.low))


def axis_of(find: str, step: str = MEMORY_STEP) -> Axis:
    """What `--find` names. Raises SimError."""
    if find == "memory":
        return Axis(find, "machine.memory", _sizes(step))
    if find == "gpus":
        return Axis(find, "machine.gpus", tuple(map(str, range(1, 17))), steady=False)
    if find == "hosts":
        return Axis(find, "machine.hosts", tuple(map(str, range(1, 65))))
    if find == "load":
        return Axis(find, "workload.load", loads(), False)
    raise SimError(f"--find {find}: expected one of {', '.join(FINDS)}")


def _sizes(step: str) -> tuple[str, ...]:
    try:
        step_bytes = parse_size(step)
    except ConfigError as error:
        raise SimError(f"--step: {error}") from error
    if step_bytes < MOST_MEMORY_BYTES // 10_000:
        raise SimError(f"--step {step}: expected at least 512MiB")
    return tuple(format_size(number * step_bytes) for number in range(1, MOST_MEMORY_BYTES // step_bytes + 1))


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
    given, tried = dict(settings or {}), dict[int, Summary | None]()
    bounds = Bounds(tuple(goals), late_share)
    _check_given(question, given)

    def with_value(place: int) -> dict[str, str]:
        return given | {axis.key: axis.values[place]}

    def does(place: int) -> bool:
        if place not in tried:
            tried[place] = _that_does(question, with_value(place), bounds, seeds, pool)
        return tried[place] is not None

    count, shortened = len(axis.values), None
    if axis.rising:
        place = first(count, does) if axis.steady else next(filter(does, range(count)), None)
    else:
        most = most_load(question, given, seeds[0], pool)
        if "workload.duration" not in given and (shortened := short_enough(question, given, most)):
            given["workload.duration"] = shortened
        place = last(count, does, load_near(0.7 * most))
    if place is None:
        extreme = len(axis.values) - 1 if axis.rising else 0
        summary, why = _try(question, with_value(extreme), bounds, seeds, pool)
        return Plan(axis, None, summary, axis.values[extreme], why, _binding(summary), (), shortened)
    beyond = place - 1 if axis.rising else place + 1
    within = 0 <= beyond < len(axis.values)
    found = tried[place]
    assert found is not None, "what does has been played"
    why = _try(question, with_value(beyond), bounds, seeds, pool)[1] if within else ""
    steps = _steps(question, with_value(place), found, bounds, seeds, pool)
    return Plan(
        axis,
        axis.values[place],
        found,
        axis.values[beyond] if within else None,
        why,
        _binding(found),
        steps,
        shortened,
        tuple(barely_met(found, bounds)),
    )


def _check_given(question: Question, given: Mapping[str, str]) -> None:
    """Raises NoEffectError; that a machine is too small as it is given is no matter."""
    try:
        question.scenario(given)
    except NoEffectError:
        raise
    except UnplayableError:
        return


def _that_does(
    question: Question, settings: Mapping[str, str], bounds: Bounds, seeds: Sequence[int], pool: Pool
) -> Summary | None:
    """The summary; None if it does not do, which is often sure before all is played."""
    scenario = _playable(question, settings)
    if isinstance(scenario, str):
        return None
    scenario = replace(scenario, most_late_share=min(1.0, len(seeds) * bounds.late_share))
    answers: list[Answers] = []
    for begin in range(0, len(seeds), AT_ONCE):
        answers += pool.play([Case(scenario, seed) for seed in seeds[begin : begin + AT_ONCE]])
        if hopeless(answers, len(seeds), bounds.late_share):
            return None
    summary = summary_of(scenario, answers)
    return None if why_not(summary, bounds) else summary


def _try(
    question: Question, settings: Mapping[str, str], bounds: Bounds, seeds: Sequence[int], pool: Pool
) -> tuple[Summary | None, str]:
    """The summary of all that happens, and why it does not do; "" if it does."""
    scenario = _playable(question, settings)
    if isinstance(scenario, str):
        return None, scenario
    summary = summarize([scenario], seeds, pool)[0]
    return summary, why_not(summary, bounds)


def _playable(question: Question, settings: Mapping[str, str]) -> Scenario | str:
    """The scenario, or why there is none."""
    try:
        scenario = question.scenario(settings)
    except SimError as error:  # such as memory that is less than the margin
        return str(error)
    return refusal(scenario) or scenario


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
    question: Question,
    settings: Mapping[str, str],
    found: Summary,
    bounds: Bounds,
    seeds: Sequence[int],
    pool: Pool,
) -> tuple[Step, ...]:
    """More of each part of the first host, each by itself."""
    if not question.profile.hosts:
        return ()
    host = question.hosts(settings)[0]
    changes = {
        "machine.cores": str(host.cores * 5 // 4 + 1),
        "machine.gpus": str(host.gpus + 1),
        "machine.memory": format_size(host.memory + max(2**30, host.memory // 4)),
        "machine.hosts": str(host.count + 1),
        "machine.synthesis_slots": str((host.synthesis_slots or host.cores) * 5 // 4 + 1),
        "machine.disks": str(host.disks + 1),
    }
    playable = {(key, value): _playable(question, {**settings, key: value}) for key, value in changes.items()}
    scenarios = {step: each for step, each in playable.items() if isinstance(each, Scenario)}
    tried = zip(scenarios, summarize([*scenarios.values()], seeds, pool), strict=True)
    steps = [
        Step(
            {key: value},
            gain(found, better),
            better,
            _more(found.cost, better.cost),
            why_not(better, bounds),
        )
        for (key, value), better in tried
    ]
    return tuple(sorted(steps, key=lambda step: -step.gain.mean))


def _more(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
