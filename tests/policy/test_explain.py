"""Whoever waits is told for what, in one sentence with numbers."""

import pytest

from policy import (
    Cancel,
    Failed,
    FixedConcurrency,
    Limits,
    Loaded,
    Proved,
    QuotientDone,
    Shared,
    Synthesized,
    Tick,
    WaitCause,
    WantedShare,
)
from tests.policy.scenario import Scenario, circuit, limits, partition

A = circuit("A", 1 << 30, 2 << 20)


def asked(stage: Scenario, name: str) -> tuple[WaitCause | None, str]:
    return stage.policy.wait_cause(partition(name)), stage.policy.explain(partition(name))


def test_memory_load_slot_lookahead_and_device() -> None:
    stage = Scenario(limits((1 << 30) + (8 << 20), slots=1, synthesis_lookahead=1))
    stage.submit("a", A, partitions=9)
    assert asked(stage, "a") == (WaitCause.LOAD, "a[0] waits for A (1.0 GiB) to load")
    assert asked(stage, "a3") == (
        WaitCause.TURN,
        "a[3] waits for its turn: 1 partition before it load or are ready, after 2 partitions of its job",
    )
    stage.load("A")
    assert asked(stage, "a") == (None, "a[0] is synthesizing")
    assert asked(stage, "a1") == (
        WaitCause.SYNTHESIS_SLOT,
        "a[1] waits for a synthesis slot: 1 of 1 are taken",
    )
    stage.synthesized("a")
    stage.synthesized("a1")
    assert asked(stage, "a1") == (WaitCause.DEVICE, "a[1] waits for a device: no worker is idle")
    assert asked(stage, "a2") == (
        WaitCause.LOOKAHEAD,
        "a[2] waits for the devices: 1 synthesized partition before it, none idle",
    )


def test_of_a_proof_it_is_said_what_is_left() -> None:
    stage = Scenario(limits((1 << 30) + (8 << 20), slots=1))
    stage.submit("a", A)
    stage.load("A")
    stage.synthesized("a")
    assert asked(stage, "a") == (None, "a[0] is proving")
    stage.send(QuotientDone(partition("a")))
    assert asked(stage, "a") == (None, "a[0] is proving: its quotient is made, its sums are left")
    stage.send(Proved(partition("a")))
    assert asked(stage, "a") == (None, "a[0] is being verified")


def test_memory_with_the_numbers() -> None:
    stage = Scenario(limits((1 << 30) + (3 << 20), slots=2))
    stage.submit("a", A, partitions=2)
    stage.load("A")
    assert asked(stage, "a1") == (
        WaitCause.MEMORY,
        "a[1] waits for memory: it needs 2.0 MiB, and of the budget of 1.0 GiB 1.0 MiB are free "
        "and 0 B held by idle SRS and PCE",
    )


def test_fixed_concurrency_waits_for_its_number() -> None:
    some: Limits = limits(1, slots=9, workers=9)
    stage = Scenario(some, FixedConcurrency(some, 2))
    stage.submit("a", A, partitions=3)
    stage.load("A")
    assert asked(stage, "a2") == (
        WaitCause.CONCURRENCY,
        "a[2] waits for concurrency: 2 partitions of 2 at once run",
    )
    assert stage.policy.peak_reserved_bytes == (1 << 30) + (4 << 20)


def test_questions_about_nothing_are_refused() -> None:
    stage = Scenario(limits(1 << 40))
    stage.submit("a", A)
    for name in ("a1", "b"):
        with pytest.raises(KeyError):
            stage.policy.explain(partition(name))
    with pytest.raises(KeyError):
        stage.policy.device_reserved_bytes("gpu7")
    with pytest.raises(ValueError, match="partitions_at_once is 0"):
        FixedConcurrency(limits(1), 0)


def test_what_other_processes_hold_is_told_from_what_is_too_much_for_the_budget() -> None:
    stage = Scenario(limits((1 << 30) + (4 << 20), slots=9, workers=9))
    stage.send(Shared((1 << 30) + (3 << 20)))
    stage.submit("a", A, partitions=3)
    assert asked(stage, "a1") == (
        WaitCause.SHARE,
        "a[1] waits for memory that other processes hold: it needs 2.0 MiB, and of this process's share, "
        "1.0 GiB of 1.0 GiB, 1.0 MiB are free",
    )
    assert stage.policy.wanted_share(0.0) == WantedShare((1 << 30) + (4 << 20), (1 << 30) + (4 << 20))
    assert stage.send(Shared((1 << 30) + (4 << 20))) == ["admit a1"]
    assert asked(stage, "a2")[0] is WaitCause.MEMORY
    assert stage.policy.wanted_share(0.0) is None


def test_a_share_too_small_for_a_circuit_lets_it_wait_and_evicts_idle_entries() -> None:
    stage = Scenario(limits((1 << 30) + (4 << 20)))
    stage.submit("a", A)
    stage.load("A")
    assert stage.finish("a") == ["prove a", "complete a"]
    assert stage.send(Shared(10)) == ["evict A"]
    assert stage.submit("b", A) == []
    assert stage.send(Shared(1 << 40)) == ["admit b", "load A"]


def test_waits_add_up_by_cause() -> None:
    """a1 waits 2 s for the slot, 3 s for the load of A being over, then for a device."""
    stage = Scenario(limits(1 << 40))
    stage.submit("a", A, partitions=3)
    stage.send(Loaded("A"), after_s=3.0)
    stage.send(Synthesized(partition("a")), after_s=2.0)
    stage.send(Synthesized(partition("a1")), after_s=4.0)
    assert stage.policy.waits(partition("a")) == {WaitCause.LOAD: 3.0}
    assert stage.policy.waits(partition("a1")) == {WaitCause.TURN: 3.0, WaitCause.SYNTHESIS_SLOT: 2.0}
    stage.send(Tick(), after_s=1.0)
    waits = stage.policy.waits(partition("a2"))
    assert waits == {WaitCause.TURN: 3.0, WaitCause.SYNTHESIS_SLOT: 6.0, WaitCause.LOOKAHEAD: 1.0}
    assert sum(waits.values()) == stage.now_s
    assert stage.send(Cancel("a"))[:2] == ["stop a", "stop a1"]
    assert stage.policy.waits(partition("a2")) == waits
    stage.send(Failed(partition("a"), "stopped"))
    assert stage.send(Failed(partition("a1"), "stopped"), after_s=9.0) == ["fail a"]
    assert stage.policy.waits(partition("a2")) == waits
    assert stage.policy.waits(partition("a1"))[WaitCause.DEVICE] == 1.0
    stage.send(Tick())
    with pytest.raises(KeyError):
        stage.policy.waits(partition("a2"))
