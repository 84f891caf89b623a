"""Capacity studies: a question put to the simulator once, at many points, backwards, or side by side.

Light to import: no Prefect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from config import Config
from db import History, open_history
from engine.words import telling
from flows.server.local import Say
from flows.study.given import changed, check_policy_is_compared, check_varied, given_settings
from flows.study.questions import QuestionParameters, ask, question_config
from flows.version import code_version
from sim import Progress, SimError
from sim.compare import fixed_against_budget
from sim.errors import NoEffectError, UnplayableError
from sim.faults import Faults
from sim.goals import read_goal, read_share
from sim.plan import MEMORY_STEP, Plan, axis_of, plan
from sim.pool import Pool, Recording, Target, pool
from sim.question import Question
from sim.scenario import Scenario, refusal
from sim.settings import VARY, combinations, given_by
from sim.size import MOST_KEPT, check_size, is_kept, warnings
from sim.summary import Summary, summarize
from sim.sweep import best_first, pareto_front
from sim.words import quantity
from sim.workload import Workload

NEVER_LATE = "0%"
MARKS = {
    ">": "the winner: the cheapest of those that give the most, to within the error",
    "=": "gives as much as the winner, to within the error, for no less",
    "*": "on the Pareto front: surely gives more than all that cost no more",
}
UNKNOWN = 10_000  # as many cases as there may be where nobody can tell


@dataclass(frozen=True)
class Swept:
    """Points that could be played, those that could not with the reason, the front, and those to choose from.

    `best`: those that give the most, to within the error, the cheapest first.
    """

    points: tuple[Summary, ...]
    refused: tuple[tuple[Mapping[str, str], str], ...]
    front: tuple[Summary, ...]
    best: tuple[Summary, ...]

    @property
    def winner(self) -> Summary | None:
        """The cheapest of the best."""
        return self.best[0] if self.best else None

    @property
    def none_does(self) -> str:
        """What is said where there is no winner; in a closed loop nothing arrives."""
        if self.points[0].loop == "closed":
            return "no point makes every proof within the memory"
        return "no point keeps up with what arrives, in time and within the memory"

    def mark(self, point: Summary) -> str:
        """What MARKS explains."""
        best = ">" if point is self.winner else "=" if any(point is each for each in self.best) else ""
        return best + ("*" if any(point is each for each in self.front) else "")


class Study:
    """A question with its history open, and how its answers are recorded."""

    def __init__(
        self, parameters: QuestionParameters, config: Config, history: History, say: Say, recorded: int
    ) -> None:
        """`recorded`: how many seeds of each point are kept in the history."""
        self.parameters, self.config, self.history, self._say = parameters, config, history, say
        self.given = given_settings(parameters)
        self.question: Question = ask(parameters, history, say, config)
        self._recorded = recorded
        self._tell_of_each_host(self.given)
        if lines := self.question.assumed(self.given):
            say(f"assumed, where profile {self.question.profile.name} does not say: {'; '.join(lines)}")

    def run(self) -> Summary:
        """The question as it is."""
        return self._summaries([self._playable({})])[0]

    def check_pictures(self) -> None:
        """Raises SimError where there would be none to draw."""
        if not is_kept(self.question.workload(self.given)):
            raise SimError(
                f"a run of more than {MOST_KEPT:,} partitions is not kept in the history, and not drawn; "
                "--set workload.duration=… to less, or leave --pictures, --html and --trace out"
            )

    def sweep(self, varied: Sequence[str], late: str = NEVER_LATE) -> Swept:
        """Every combination of what is varied. Raises SimError where none can be played."""
        points, refused, share = list[Scenario](), list[tuple[Mapping[str, str], str]](), read_share(late)
        in_vain, points_asked = list[NoEffectError](), combinations(varied)
        check_varied(self.parameters, self.given, VARY, points_asked[0])
        self._tell_of_each_host(points_asked[0])
        for settings in points_asked:
            try:
                with given_by(VARY, settings):
                    scenario = self.question.scenario(self.given | settings)
            except UnplayableError as error:
                refused.append((settings, str(error)))
                in_vain += [error] if isinstance(error, NoEffectError) else []
                continue
            if why := refusal(scenario):
                refused.append((settings, why))
            else:
                points.append(scenario)
        if not points:
            raise SimError(refused[0][1])
        for vain in in_vain:
            if len({(each.settings or {}).get(vain.key) for each in points}) == 1:
                raise vain  # of all its values, one is left
        found = self._summaries(points)
        front, best = pareto_front(found, share), best_first(found, share)
        return Swept(tuple(found), tuple(refused), tuple(front), tuple(best))

    def compare(self, others: Sequence[Mapping[str, str]]) -> list[Summary]:
        """The question as it is, then under each of the other settings; with none, the standard comparison.

        That is the budget against fixed numbers of partitions at once.
        """
        if not others:
            check_policy_is_compared(self.parameters, self.given)
        self._tell_of_each_host(dict.fromkeys(key for each in others for key in each))
        cases = [{}, *others] if others else fixed_against_budget(self.question, self.given)
        return self._summaries([self._playable(settings) for settings in cases])

    def plan(
        self, find: str, goals: Sequence[str] = (), late: str = NEVER_LATE, step: str = MEMORY_STEP
    ) -> Plan:
        """The least of what is looked for with which the machine keeps up and the goals hold."""
        axis, bounds, share = axis_of(find, step), [read_goal(text) for text in goals], read_share(late)
        seeds = self.parameters.all_seeds
        check_varied(self.parameters, self.given, f"--find {find}", [axis.key])
        self._tell_of_each_host([axis.key])
        self._warn([self.question.workload(self.given)])
        self._tell_of_faults([self.question.faults(self.given)])
        with self._pool(UNKNOWN) as playing:
            return plan(self.question, axis, bounds, seeds, playing, self.given, share)

    def _playable(self, settings: Mapping[str, str]) -> Scenario:
        with given_by("--with", settings):
            scenario = self.question.scenario(changed(self.given, settings))
        if why := refusal(scenario):
            raise SimError(why)
        return scenario

    def _summaries(self, scenarios: Sequence[Scenario]) -> list[Summary]:
        seeds = self.parameters.all_seeds
        recording = self._recording()
        if recording is not None and not all(is_kept(each.workload) for each in scenarios):
            self._say(f"runs of more than {MOST_KEPT:,} partitions are not kept in the history")
            recording = None
        self._warn([each.workload for each in scenarios], recording)
        self._tell_of_faults([each.faults for each in scenarios])
        with self._pool(len(scenarios) * len(seeds), recording) as playing:
            return summarize(scenarios, seeds, playing)

    def _tell_of_each_host(self, keys: Iterable[str]) -> None:
        """That a part of the machine is one of several hosts."""
        hosts = [host.name for host in self.question.profile.hosts]
        for key in keys:
            section, _, last = key.partition(".")
            if len(hosts) > 1 and section == "machine" and "." not in last:
                told = f"{key} changes each of hosts {', '.join(hosts)}"
                self._say(f"{told}; machine.{hosts[0]}.{last} changes one")

    def _tell_of_faults(self, found: Sequence[Faults]) -> None:
        if lines := list(dict.fromkeys(line for each in found for line in each.assumed())):
            self._say(f"assumed, where [faults] does not say: {'; '.join(lines)}")

    def _warn(self, workloads: Sequence[Workload], recording: Recording | None = None) -> None:
        for each in workloads:
            check_size(each)
        recorded = 0 if recording is None else min(recording.seeds, self.parameters.seeds)
        for line in warnings(workloads, self.parameters.seeds, recorded):
            self._say(line)

    def _recording(self) -> Recording | None:
        if not self._recorded:
            return None
        config, name = self.config, self.parameters.title
        hide = tuple(config.history.hash)
        target = Target(config.history_url(), config.history_spool(), hide, name, code_version())
        return Recording(target, self._recorded)

    @contextmanager
    def _pool(self, cases: int, recording: Recording | None = None) -> Iterator[Pool]:
        """Which says now and then how far it is."""
        done, progress = [0], Progress()

        def told() -> None:
            done[0] += 1

        def word() -> str:
            if progress.recorded_rows:
                return f"recording the run, {progress.recorded_rows} rows written"
            of = f" of {cases}" if cases < UNKNOWN else ""
            at = (
                f"; {progress.ended_count:,} proofs up to {quantity('at_s', progress.at_s)} of simulated time"
                if progress.at_s
                else ""
            )
            return f"simulating, {done[0]}{of} runs done{at}"

        with telling(self._say, word), pool(cases, progress, told, recording) as playing:
            yield playing


@contextmanager
def study(parameters: QuestionParameters, say: Say, recorded: int = 1) -> Iterator[Study]:
    """A study of the question. Raises what the rooms raise for what cannot be used."""
    config = question_config(parameters)
    hide = config.history.hash
    with open_history(config.history_url(), spool=config.history_spool(), hide=hide) as history:
        yield Study(parameters, config, history, say, recorded)
