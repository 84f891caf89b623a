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
from sim.steps import Step, best_of, playable, steps_from
from sim.summary import Summary, summarize, summary_of

MOST_MEMORY_BYTES = 4 * 2**40
MEMORY_STEP = "32GiB"
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
        """The best of the steps; see `best_of`."""
        return best_of(self.steps)


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
    _check_given(question, given | {axis.key: axis.values[-1]})

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
    steps = steps_from(question, with_value(place), found, bounds, seeds, pool)
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
    """Raises SimError where it cannot be asked; that a machine is too small as it is given is no matter."""
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
    scenario = playable(question, settings)
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
    scenario = playable(question, settings)
    if isinstance(scenario, str):
        return None, scenario
    summary = summarize([scenario], seeds, pool)[0]
    return summary, why_not(summary, bounds)


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
