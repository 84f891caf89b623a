"""One seed: run its case, and say what broke, cut down to little that still breaks."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from policy import BudgetPolicy, Cancel, Failed, PartitionId
from sim.torture.case import STAGES, Arrival, At, Case, Strike
from sim.torture.driver import Logged, MakePolicy
from sim.torture.generate import case_of
from sim.torture.machine import TortureMachine
from sim.torture.violation import ViolationError

REPEAT_EVERY = 16  # seeds; the second run must log the same
SHRINKING_RUNS = 1000
Watch = Callable[[TortureMachine], None]
"""Is given the machine before it runs: how far it is can be seen from another thread."""


@dataclass(frozen=True)
class Finding:
    """A case that breaks a rule, `rule` 0 for an error of another kind, and the decision log up to there."""

    case: Case
    rule: int
    why: str
    log: tuple[Logged, ...]


@dataclass(frozen=True)
class Outcome:
    """What a seed came to; of the partitions admitted a retried one counts each time."""

    log: tuple[Logged, ...]
    admitted: int
    finding: Finding | None


def run_seed(
    seed: int, partitions: int = 100, make_policy: MakePolicy = BudgetPolicy, watch: Watch = lambda _: None
) -> Outcome:
    """Run the seed's case, some seeds twice."""
    case = case_of(seed, partitions)
    outcome = run_case(case, make_policy, watch)
    if outcome.finding is None and seed % REPEAT_EVERY == 0 and case_of(seed, partitions) == case:
        again = run_case(case, make_policy, watch)
        if again.log != outcome.log:
            why = "the same case gave another decision log"
            return replace(outcome, finding=Finding(case, 0, why, outcome.log))
    return outcome


def run_case(case: Case, make_policy: MakePolicy = BudgetPolicy, watch: Watch = lambda _: None) -> Outcome:
    """Whatever is raised is a finding: the policy answers events and raises nothing."""
    machine = TortureMachine(case, make_policy)
    watch(machine)
    finding: Finding | None = None
    try:
        machine.run()
    except ViolationError as violation:
        finding = Finding(case, violation.rule, str(violation), tuple(machine.log))
    except Exception as error:
        finding = Finding(case, 0, _place(error), tuple(machine.log))
    return Outcome(tuple(machine.log), machine.admitted, finding)


def _place(error: Exception) -> str:
    """What was raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = Path(last.filename)
    return f"{type(error).__name__}: {error} ({where.parent.name}/{where.name}, line {last.lineno})"


def shrink(finding: Finding, make_policy: MakePolicy = BudgetPolicy) -> Finding:
    """The smallest case found that breaks the same rule: fewer jobs, faults and partitions."""
    left = SHRINKING_RUNS
    smaller = True
    while smaller:
        smaller = False
        for case in _smaller(finding.case):
            if not left:
                return finding
            left -= 1
            found = run_case(case, make_policy).finding
            if found is not None and found.rule == finding.rule:
                finding, smaller = found, True
                break
    return finding


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with a part left out, the largest parts first."""
    yield from _faults_bound_to_stages(case)
    yield from _without(case, len(case.arrivals), _without_arrivals)
    yield from _without(case, len(case.faults), _without_faults)
    for number, arrival in enumerate(case.arrivals):
        for simpler in _simpler(arrival):
            arrivals = (*case.arrivals[:number], simpler, *case.arrivals[number + 1 :])
            yield _consistent(replace(case, arrivals=arrivals))


def _faults_bound_to_stages(case: Case) -> Iterator[Case]:
    """A cancel or failure at a time misses as soon as another job is left out; at a stage it does not."""
    for number, fault in enumerate(case.faults):
        if isinstance(fault, At) and isinstance(fault.what, Cancel | Failed):
            what = fault.what
            partition = PartitionId(what.job_id, 0) if isinstance(what, Cancel) else what.partition
            for stage in STAGES:
                bound = Strike(partition, stage, 0.0, "cancel" if isinstance(what, Cancel) else "fail")
                yield replace(case, faults=(*case.faults[:number], bound, *case.faults[number + 1 :]))


def _simpler(arrival: Arrival) -> Iterator[Arrival]:
    """Fewer partitions; at the start, without deadline, not again."""
    count = arrival.job.partitions
    for fewer in sorted({count // 2, count - 1} - {0, count}):
        yield replace(arrival, job=replace(arrival.job, partitions=fewer))
    plain = replace(arrival, at_s=0.0, deadline_s=None, retries=0)
    if plain != arrival:
        yield plain


def _without(case: Case, count: int, without: Callable[[Case, int, int], Case]) -> Iterator[Case]:
    size = (count + 1) // 2
    while size:
        for start in range(0, count, size):
            yield without(case, start, start + size)
        size //= 2


def _without_arrivals(case: Case, start: int, stop: int) -> Case:
    return _consistent(replace(case, arrivals=case.arrivals[:start] + case.arrivals[stop:]))


def _without_faults(case: Case, start: int, stop: int) -> Case:
    return replace(case, faults=case.faults[:start] + case.faults[stop:])


def _consistent(case: Case) -> Case:
    """Without strikes at partitions that are no more; what else is aimed at them misses."""
    sizes = {arrival.job.id: arrival.job.partitions for arrival in case.arrivals}
    faults = [
        fault
        for fault in case.faults
        if not isinstance(fault, Strike) or fault.partition.index < sizes.get(fault.partition.job_id, 0)
    ]
    return replace(case, faults=tuple(faults))
