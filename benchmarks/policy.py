"""Events a second that the policy takes, on one thread, with 1,000 partitions waiting.

    python -m benchmarks.policy [shape …]

A log of events is made first, by a machine on paper on which everything takes no time; then the same events
are given to a fresh policy, and only that is timed: CPU time, the best of some rounds.
"""

import gc
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, islice

from policy import (
    BudgetPolicy,
    Circuit,
    Complete,
    Decision,
    Device,
    Entry,
    Event,
    Evict,
    Job,
    Limits,
    Load,
    Loaded,
    Priority,
    Prove,
    Proved,
    QuotientDone,
    Submit,
    Synthesize,
    Synthesized,
    Verified,
)

WAITING = 1_000
EVENTS = 20_000
ROUNDS = 3
GIB = 2**30
Jobs = Callable[[int], Job]


def circuit(number: int, entry_bytes: int, working_bytes: int) -> Circuit:
    entries = (Entry(f"srs{number}", entry_bytes), Entry(f"pce{number}", entry_bytes // 2))
    phase1_bytes = working_bytes * 9 // 10
    return Circuit(f"circuit{number}", entries, phase1_bytes, working_bytes - phase1_bytes)


def jobs_of(circuits: list[Circuit], priorities: list[Priority], partitions: int = 1) -> Jobs:
    """Job after job, another circuit each time."""

    def job(number: int) -> Job:
        priority = priorities[number % len(priorities)]
        return Job(str(number), circuits[number % len(circuits)], partitions, priority)

    return job


def limits(budget_bytes: int) -> Limits:
    return Limits(
        budget_bytes,
        16,
        (Device("gpu0", 2), Device("gpu1", 2)),
        synthesis_lookahead=4,
        eviction_min_idle_s=10.0,
    )


def circuits(count: int, entry_bytes: int) -> list[Circuit]:
    return [circuit(number, entry_bytes, (2 + number % 10) * GIB + number) for number in range(count)]


NORMAL, ALL = [Priority.NORMAL], [*Priority]
SHAPES: dict[str, tuple[Limits, Jobs]] = {
    "one circuit": (limits(100 * GIB), jobs_of(circuits(1, 44 * GIB), NORMAL)),
    "one circuit, ten partitions a proof": (limits(100 * GIB), jobs_of(circuits(1, 44 * GIB), NORMAL, 10)),
    "ten circuits": (limits(100 * GIB), jobs_of(circuits(10, 2 * GIB), NORMAL)),
    "ten circuits, four priorities": (
        limits(100 * GIB),
        jobs_of(circuits(10, 2 * GIB), [*ALL, Priority.LOW]),
    ),
    "ten circuits, evictions": (limits(100 * GIB), jobs_of(circuits(10, 20 * GIB), NORMAL)),
    "1,000 circuits": (limits(800 * GIB), jobs_of(circuits(1_000, GIB // 8), NORMAL)),
    "1,000 circuits, evictions": (limits(100 * GIB), jobs_of(circuits(1_000, GIB), NORMAL)),
    "1,000 circuits, evictions, priorities": (
        limits(100 * GIB),
        jobs_of(circuits(1_000, GIB), [*ALL, Priority.LOW]),
    ),
}


def events_of(limits: Limits, job: Jobs) -> Iterator[Event]:
    """What happens, one thing after the other; as many partitions as `WAITING` wait at any time."""
    policy, numbers = BudgetPolicy(limits), count()
    waiting = 0
    coming: deque[Event] = deque()
    for step in count():
        while waiting < WAITING:
            new = job(next(numbers))
            coming.append(Submit(new))
            waiting += new.partitions
        event = coming.popleft()
        yield event
        for decision in policy.handle(event, step * 0.01):
            coming.extend(answers(decision))
            waiting -= isinstance(decision, Synthesize)


def answers(decision: Decision) -> list[Event]:
    match decision:
        case Load(entry):
            return [Loaded(entry.key)]
        case Synthesize(partition):
            return [Synthesized(partition)]
        case Prove(partition):
            return [QuotientDone(partition), Proved(partition), Verified(partition)]
    return []


def measure(limits: Limits, job: Jobs) -> tuple[float, int, int]:
    """Events a second once all wait, then how many proofs ended and entries went meanwhile."""
    events = list(islice(events_of(limits, job), WAITING + EVENTS))
    best_s, decisions = float("inf"), []
    for _ in range(ROUNDS):
        policy = BudgetPolicy(limits)
        for step, event in enumerate(events[:WAITING]):
            policy.handle(event, step * 0.01)
        gc.collect()
        gc.disable()
        began_s = time.process_time()
        decisions = [
            policy.handle(event, step * 0.01) for step, event in enumerate(events[WAITING:], WAITING)
        ]
        best_s = min(best_s, time.process_time() - began_s)
        gc.enable()
    made = [decision for answer in decisions for decision in answer]
    return (
        EVENTS / best_s,
        sum(isinstance(each, Complete) for each in made),
        sum(isinstance(each, Evict) for each in made),
    )


def main() -> None:
    for name in sys.argv[1:] or SHAPES:
        rate, proofs, evictions = measure(*SHAPES[name])
        print(
            f"{name:40} {rate:9,.0f} events a second; {proofs:6,} proofs, {evictions:6,} evictions",
            flush=True,
        )


if __name__ == "__main__":
    main()
