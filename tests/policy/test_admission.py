"""Admission by bytes: what fits together, what is refused, what makes room and when."""

import pytest

from policy import (
    BudgetPolicy,
    Cancel,
    Circuit,
    Device,
    Entry,
    Failed,
    Job,
    Limits,
    Loaded,
    LoadFailed,
    Priority,
    Resized,
    Submit,
    Tick,
)
from tests.policy.scenario import Scenario, circuit, limits, partition

A, B = circuit("A", 10, 4), circuit("B", 10, 4)


def running(stage: Scenario) -> int:
    return sum(stage.policy.reserved_bytes_of(p) > 0 for p in stage.policy.partitions())


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_as_many_run_as_the_budget_holds(at_once: int) -> None:
    stage = Scenario(limits(10 + 4 * at_once, slots=8, workers=8))
    stage.submit("a", A, partitions=5)
    stage.load("A")
    assert running(stage) == at_once
    assert stage.policy.peak_reserved_bytes == 10 + 4 * at_once


def test_what_can_never_fit_is_refused_with_the_numbers() -> None:
    policy = BudgetPolicy(limits(13))
    (refusal,) = policy.handle(Submit(Job("a", A)), 0.0)
    assert refusal.why == (
        "one partition of A needs 14 B: 10 B SRS and PCE, 4 B working set; the budget is 13 B; "
        "a budget of 14 B would do"
    )
    assert BudgetPolicy(limits(14)).handle(Submit(Job("a", A)), 0.0) != [refusal]


def test_what_no_device_can_hold_is_refused() -> None:
    devices = (Device("small", 1, 5), Device("large", 1, 8))
    stage = Scenario(Limits(100, 1, devices))
    assert stage.submit("a", circuit("A", 1, 1, device_bytes=9)) == ["reject a"]
    assert stage.submit("b", circuit("B", 1, 1, device_bytes=8)) == ["admit b", "load B"]
    stage.load("B")
    assert stage.synthesized("b") == ["prove b"]
    assert stage.policy.device_reserved_bytes("large") == 8


def test_nothing_is_held_while_waiting_for_the_rest() -> None:
    stage = Scenario(limits(20, slots=2))
    stage.submit("a", A)
    assert stage.submit("b", B) == []
    assert stage.policy.reserved_bytes == 14


def test_phase_1_is_given_back_with_the_quotient_and_lets_the_next_in() -> None:
    stage = Scenario(limits(16, slots=2, workers=2))
    stage.submit("a", A, partitions=2)
    assert stage.load("A") == ["synthesize a"]
    stage.synthesized("a")
    assert stage.prove("a")[:2] == ["admit a1", "synthesize a1"]


def test_what_a_loaded_entry_does_not_take_lets_others_in() -> None:
    stage = Scenario(limits(20, slots=2))
    stage.submit("a", A)
    assert stage.submit("b", B) == []
    assert stage.send(Loaded("A", 2)) == ["admit b", "load B", "synthesize a"]
    assert stage.policy.reserved_bytes == 2 + 4 + 10 + 4
    stage.load("B")
    stage.finish("a")
    assert stage.policy.reserved_bytes == 2 + 10 + 4


def test_idle_entries_go_for_those_that_need_the_room() -> None:
    stage = Scenario(limits(14))
    stage.submit("a", A)
    stage.load("A")
    stage.finish("a")
    assert stage.policy.reserved_bytes == 10
    assert stage.submit("b", B) == ["evict A", "admit b", "load B"]


def test_a_young_idle_entry_is_spared_and_a_timer_asked_for() -> None:
    """C runs on; what idles only since A's proof goes once it has idled for long enough, and not before."""
    stage = Scenario(limits(26, slots=2, workers=2, eviction_min_idle_s=5.0))
    stage.submit("a", A)
    stage.submit("c", circuit("C", 8, 4))
    stage.load("A", "C")
    stage.finish("a")
    assert stage.submit("b", B) == ["wake at 5"]
    assert "idle SRS and PCE may be evicted for it in 5.0 s" in stage.policy.explain(partition("b"))
    assert stage.send(Tick(), after_s=4.0) == ["wake at 5"]
    assert stage.send(Tick(), after_s=1.0) == ["evict A", "admit b", "load B"]


def test_a_young_idle_entry_goes_where_nothing_else_could_help() -> None:
    stage = Scenario(limits(14, eviction_min_idle_s=1000.0))
    stage.submit("a", A)
    stage.load("A")
    stage.synthesized("a")
    stage.submit("b", B)
    assert stage.prove("a") == ["evict A", "admit b", "load B", "complete a"]


def test_work_on_a_young_entry_goes_before_the_eviction_of_it() -> None:
    stage = Scenario(limits(14, eviction_min_idle_s=1000.0))
    stage.submit("a", A)
    stage.load("A")
    stage.submit("b", B)
    stage.submit("c", A)
    stage.synthesized("a")
    assert stage.prove("a") == ["admit c", "synthesize c", "complete a"]


def test_an_entry_of_its_own_is_no_room_for_a_partition() -> None:
    """At 6 s A has idled for long, D has not; e needs A, so D would have to go, and is spared till 9 s."""
    stage = Scenario(limits(30, slots=2, workers=2, eviction_min_idle_s=5.0))
    stage.submit("a", A)
    stage.load("A")
    stage.finish("a")
    stage.submit("c", circuit("C", 8, 4))
    stage.submit("d", circuit("D", 6, 2))
    stage.load("C", "D")
    stage.send(Tick(), after_s=4.0)
    stage.finish("d")
    stage.send(Tick(), after_s=2.0)
    assert stage.submit("e", A) == ["wake at 9"]
    assert stage.send(Tick(), after_s=3.0) == ["evict D", "admit e", "synthesize e"]


def test_a_load_that_nobody_waits_for_any_more_is_awaited_before_the_young_go() -> None:
    stage = Scenario(limits(30, eviction_min_idle_s=1000.0))
    stage.submit("b", B)
    stage.load("B")
    stage.finish("b")
    stage.submit("a", A)
    stage.send(Cancel("a"))
    assert stage.submit("c", circuit("C", 10, 4)) == ["wake at 1000"]
    assert stage.load("A") == ["evict B", "admit c", "load C"]


def test_what_was_evicted_meanwhile_is_counted_as_missing() -> None:
    """a waits while A is in memory, b drives A out; when x is done A still has no room, till b is done."""
    stage = Scenario(limits(23, slots=2, workers=2))
    stage.submit("y", A)
    stage.load("A")
    stage.finish("y")
    stage.submit("x", circuit("X", 0, 6))
    stage.load("X")
    assert stage.submit("a", Circuit("A2", A.entries, 4, 5)) == []
    assert stage.submit("b", circuit("B", 7, 5), priority=Priority.CRITICAL) == [
        "evict A",
        "admit b",
        "load B",
    ]
    assert stage.finish("x") == ["prove x", "complete x"]
    stage.load("B")
    assert stage.finish("b") == ["prove b", "evict B", "admit a", "load A", "complete b"]


def test_a_failed_load_fails_those_that_wait_for_it_and_gives_back_all() -> None:
    stage = Scenario(limits(100, slots=4))
    stage.submit("a", A, partitions=2)
    stage.submit("b", Circuit("B", (Entry("A", 10), Entry("B", 10)), 2, 2))
    assert stage.send(LoadFailed("A", "no such file")) == ["fail a", "fail b"]
    assert stage.policy.reserved_bytes == 10  # of B, which still loads for nobody
    stage.load("B")
    assert stage.policy.idle


def test_a_smaller_budget_evicts_and_fails_what_can_no_longer_fit() -> None:
    stage = Scenario(limits(40, slots=2, eviction_min_idle_s=1000.0))
    stage.submit("b", circuit("B", 5, 1))
    stage.load("B")
    stage.finish("b")
    stage.submit("a", A, partitions=5)
    stage.load("A")
    assert stage.send(Resized(13)) == ["stop a", "stop a1", "evict B"]
    assert stage.policy.reserved_bytes == 18
    stage.send(Failed(partition("a"), "stopped"))
    assert stage.send(Failed(partition("a1"), "stopped")) == ["fail a"]
    assert stage.send(Resized(9)) == ["evict A"]


def test_over_a_lowered_budget_entries_go_as_soon_as_they_are_idle() -> None:
    stage = Scenario(limits(40, slots=2, workers=2, eviction_min_idle_s=1000.0))
    stage.submit("a", A)
    stage.submit("b", B)
    stage.load("A", "B")
    assert stage.send(Resized(20)) == []
    assert stage.finish("a") == ["prove a", "evict A", "complete a"]
    assert stage.finish("b") == ["prove b", "complete b"]
    assert stage.policy.reserved_bytes == 10


def test_a_larger_budget_lets_more_in() -> None:
    stage = Scenario(limits(14, slots=3))
    stage.submit("a", A, partitions=3)
    stage.load("A")
    assert stage.send(Resized(22)) == ["admit a1", "admit a2", "synthesize a1", "synthesize a2"]


def test_a_replaced_file_under_an_old_key_is_refused() -> None:
    stage = Scenario(limits(100))
    stage.submit("a", A)
    assert stage.submit("b", circuit("A", 11, 4)) == ["reject b"]
