"""What would be the next better step from a machine that does: one more of each of its parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from config import format_size
from sim.errors import SimError
from sim.goals import Bounds, why_not
from sim.hardware import GIB, Host
from sim.intervals import Interval
from sim.pool import Pool
from sim.question import Question
from sim.scenario import Scenario, refusal
from sim.summary import Summary, summarize
from sim.sweep import gain

LEAST_GAIN = 0.005
MORE: Mapping[str, Callable[[Host], str]] = {
    "cores": lambda host: str(host.cores * 5 // 4 + 1),
    "gpus": lambda host: str(host.gpus + 1),
    "memory": lambda host: format_size(host.memory + max(GIB, host.memory // 4)),
    "hosts": lambda host: str(host.count + 1),
    "synthesis_slots": lambda host: str((host.synthesis_slots or host.cores) * 5 // 4 + 1),
    "disks": lambda host: str(host.disks + 1),
}
"""One step more of each part of a host."""


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


def best_of(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Those that gain most for what they cost more, or where costs are not known, most.

    More than one where errors do not tell them apart, the best first; none where nothing surely gains.
    """
    able = [step for step in steps if not step.why_not]
    sure = [step for step in able if step.sure and step.gain.mean >= LEAST_GAIN]
    sure.sort(key=lambda step: -step.worth(step.gain.mean))
    return tuple(each for each in sure if each.worth(each.gain.high) >= sure[0].worth(sure[0].gain.low))


def playable(question: Question, settings: Mapping[str, str]) -> Scenario | str:
    """The scenario, or why there is none."""
    try:
        scenario = question.scenario(settings)
    except SimError as error:  # such as memory that is less than the margin
        return str(error)
    return refusal(scenario) or scenario


def steps_from(
    question: Question,
    settings: Mapping[str, str],
    found: Summary,
    bounds: Bounds,
    seeds: Sequence[int],
    pool: Pool,
) -> tuple[Step, ...]:
    """More of each part of the hosts, each by itself."""
    found_scenarios = [
        (change, playable(question, {**settings, **change})) for change in _changes(question.hosts(settings))
    ]
    scenarios = [(change, each) for change, each in found_scenarios if isinstance(each, Scenario)]
    tried = zip(scenarios, summarize([each for _, each in scenarios], seeds, pool), strict=True)
    steps = [
        Step(
            change,
            gain(found, better),
            better,
            _more(found.cost, better.cost),
            why_not(better, bounds),
        )
        for (change, _), better in tried
    ]
    return tuple(sorted(steps, key=lambda step: -step.gain.mean))


def _changes(hosts: Sequence[Host]) -> list[dict[str, str]]:
    """Of a part of all hosts at a time. Of several each is named: what is one more differs, and how many."""
    if len(hosts) == 1:
        return [{f"machine.{part}": more(hosts[0])} for part, more in MORE.items()]
    have_gpus = [host for host in hosts if host.gpus] or hosts
    found = [
        {f"machine.{host.name}.{part}": more(host) for host in (have_gpus if part == "gpus" else hosts)}
        for part, more in MORE.items()
    ]
    return [change for change in found if change]  # none of a machine that is not described


def _more(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
