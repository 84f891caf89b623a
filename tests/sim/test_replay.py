"""What was recorded decides the same again, and a difference is found."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from db import History, Run, open_history
from policy import (
    BudgetPolicy,
    Cancel,
    Circuit,
    Entry,
    Evict,
    Fail,
    Job,
    Limits,
    Loaded,
    Priority,
    Resized,
    Stop,
    WakeAt,
)
from policy.codec import decode_event, encode_event
from sim import (
    LogEntry,
    Recorded,
    RunLog,
    SimError,
    first_difference,
    read_recorded,
    record,
    replay,
    replay_run,
    simulate,
)
from sim.clock import Clock
from sim.durations import Durations
from sim.machine import SimulatedMachine
from sim.torture.rules import CheckedPolicy
from tests.sim.model import batch, limits, profile

CIRCUITS = [Circuit(f"c{i}", (Entry(f"srs{i}", 60 + i),), 10, 10 + i) for i in range(4)]
LIMITS: Limits = limits(3, slots=2, workers=2, eviction_min_idle_s=2.5, overtake_limit=2)


@pytest.fixture(scope="module")
def eventful() -> list[LogEntry]:
    """A log with evictions, timers, stops, cancels and resizes, at times that are no round numbers."""
    env = Clock()
    policy = BudgetPolicy(LIMITS)
    varied = profile(spread=0.4)
    durations = Durations(varied, {circuit.name: 1 for circuit in CIRCUITS}, seed=3)
    log = RunLog(policy)
    machine = SimulatedMachine(env, policy, varied, durations, [log])
    for number in range(40):
        priority = Priority(number % 4)
        machine.submit(Job(f"job{number}", CIRCUITS[number % 4], 1 + number % 3, priority))
        env.run(until=env.now + 1.7 * (number % 3) + 0.1)
        if number % 9 == 8:
            machine.send(Cancel(f"job{number - 2}"))
            machine.send(Cancel(policy.partitions()[0].job_id))
        if number % 13 == 12:
            machine.send(Resized(LIMITS.budget_bytes - number))
    env.run()
    assert policy.idle
    return log.entries


def test_an_eventful_log_replays_to_the_same_decisions(eventful: list[LogEntry]) -> None:
    kinds = {type(decision) for entry in eventful for decision in entry.decisions}
    assert {Evict, Fail, Stop, WakeAt} <= kinds
    events = [(entry.at_s, decode_event(encode_event(entry.event))) for entry in eventful]
    replayed = replay(LIMITS, events)
    recorded = [Recorded(entry.at_s, entry.event, entry.decisions) for entry in eventful]
    assert first_difference(recorded, replayed) is None
    assert len(replayed) == len(eventful)


def test_an_eventful_log_keeps_every_rule(eventful: list[LogEntry]) -> None:
    checked = CheckedPolicy(BudgetPolicy(LIMITS), LIMITS)
    for entry in eventful:
        assert tuple(checked.handle(entry.event, entry.at_s)) == entry.decisions
    assert not checked.books.jobs


def test_other_limits_decide_otherwise_and_the_difference_is_named(eventful: list[LogEntry]) -> None:
    recorded = [Recorded(entry.at_s, entry.event, entry.decisions) for entry in eventful]
    first = [(entry.at_s, entry.event) for entry in eventful[:1]]
    tight = replace(LIMITS, budget_bytes=10)
    assert "event 0 at 0.0 s, Submit: recorded Admit" in str(first_difference(recorded, replay(tight, first)))
    with pytest.raises(SimError, match="event 1: Loaded"):
        replay(LIMITS, [first[0], (1.0, Loaded("never asked for"))])
    assert "events recorded" in str(first_difference(recorded, recorded[:-1]))


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(tmp_path / "history.db") as opened:
        yield opened


@pytest.mark.parametrize("policy", ["budget", "fixed:2"])
def test_a_run_in_the_history_replays(history: History, policy: str) -> None:
    run = simulate(batch(6, 3, partitions=2), limits(2), profile(spread=0.2), policy=policy)
    with history.writer() as writer:
        run_id = record(run, writer, name="batch", code_version="test")
    recorded = read_recorded(history, run_id)
    assert (recorded.limits, recorded.policy) == (run.limits, policy)
    assert [(entry.at_s, entry.event, entry.decisions) for entry in recorded.log] == [
        (entry.at_s, entry.event, entry.decisions) for entry in run.log
    ]
    assert replay_run(recorded) is None
    assert "event 0 at 0.0 s, Submit" in str(replay_run(replace(recorded, policy="fixed:1")))


def test_a_run_without_a_log_is_refused(history: History) -> None:
    row = Run(source="real", name="old", code_version="test")
    with history.writer() as writer:
        writer.insert(row)
    with pytest.raises(SimError, match="has no log"):
        read_recorded(history, row.id)
