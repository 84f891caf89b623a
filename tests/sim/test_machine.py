"""The modelled machine against the real policy: stops, timers, loads and uploads."""

from dataclasses import replace
from typing import Any

import pytest

from policy import (
    BudgetPolicy,
    Cancel,
    Circuit,
    Complete,
    Device,
    Entry,
    Evict,
    Fail,
    Failed,
    Job,
    Limits,
    PartitionState,
    Proved,
    Resized,
    Tick,
    Upload,
    WakeAt,
)
from sim.clock import Clock
from sim.durations import Durations
from sim.log import RunLog
from sim.machine import SimulatedMachine
from tests.sim.model import CIRCUIT, limits, profile

KEYED = replace(CIRCUIT, device_bytes=10, device_entry=Entry("key", 100))
LONG = Circuit("long", (Entry("long", 100),), 10, 10)


class Stage:
    def __init__(self, limits: Limits, **changes: Any) -> None:
        self.env = Clock()
        self.policy = BudgetPolicy(limits)
        durations = Durations(profile(), {"circuit": 1, "long": 1}, seed=0)
        self.log = RunLog(self.policy)
        self.machine = SimulatedMachine(self.env, self.policy, profile(**changes), durations, [self.log])

    def until(self, at_s: float) -> None:
        self.env.run(until=at_s)

    def answers(self, kind: type) -> list[object]:
        return [each for entry in self.log.entries for each in entry.decisions if isinstance(each, kind)]


@pytest.mark.parametrize(
    ("at_s", "state"),
    [
        (0.5, PartitionState.LOADING),
        (1.5, PartitionState.SYNTHESIZING),
        (3.0, PartitionState.PROVING),
        (5.0, PartitionState.QUOTIENT_DONE),
        (6.2, PartitionState.PROVED),
    ],
)
def test_cancelled_anywhere_it_ends_at_once_and_gives_back_all(at_s: float, state: PartitionState) -> None:
    stage = Stage(limits(1))
    end = stage.machine.submit(Job("job", CIRCUIT))
    stage.until(at_s)
    (partition,) = stage.policy.partitions()
    assert stage.policy.state(partition) is state
    stage.machine.send(Cancel("job"))
    stage.env.run()
    assert end.value == Fail("job", "cancelled")
    assert stage.log.entries[-1].at_s <= max(at_s, 1.0)  # but for a load, which nobody ends
    assert stage.policy.reserved_bytes == 100
    assert stage.machine.submit(Job("next", CIRCUIT)) is not None
    stage.env.run()
    assert stage.answers(Complete) == [Complete("next")]


def test_a_partition_that_waits_for_a_device_is_dropped() -> None:
    stage = Stage(limits(2, workers=1))
    stage.machine.submit(Job("a", CIRCUIT))
    stage.machine.submit(Job("b", CIRCUIT))
    stage.until(3.0)
    stage.machine.send(Cancel("b"))
    assert isinstance(stage.log.entries[-1].event, Failed)
    stage.env.run()
    assert stage.answers(Complete) == [Complete("a")]


def test_what_is_stopped_leaves_slots_and_devices_to_others() -> None:
    """b proves from 3 s on, the very second that a leaves the device."""
    stage = Stage(limits(2, workers=2))
    stage.machine.submit(Job("a", CIRCUIT))
    stage.machine.submit(Job("b", CIRCUIT))
    stage.until(3.0)
    stage.machine.send(Cancel("a"))
    stage.env.run()
    assert stage.log.entries[-1].at_s == pytest.approx(3.0 + 4 + 0.5)


def test_a_timer_wakes_the_policy_when_an_idle_entry_may_go() -> None:
    """a is proved at 6 s and its entries idle; c needs their room, which it gets at 9 s while b runs on."""
    stage = Stage(Limits(380, 8, (Device("cpu", 8),), eviction_min_idle_s=3.0))
    stage.machine.submit(Job("a", CIRCUIT))
    stage.machine.submit(Job("b", Circuit("long", (Entry("b", 200),), 10, 10)))
    stage.until(6.6)
    stage.machine.submit(Job("c", LONG))
    assert stage.answers(WakeAt) == [WakeAt(9.0)]
    stage.env.run()
    evictions = [entry for entry in stage.log.entries if any(isinstance(d, Evict) for d in entry.decisions)]
    assert [(entry.at_s, type(entry.event)) for entry in evictions] == [(9.0, Tick)]


def test_entries_are_read_from_disk_one_after_another() -> None:
    stage = Stage(limits(99))
    stage.machine.submit(Job("a", CIRCUIT))
    stage.machine.submit(Job("b", LONG))
    stage.env.run()
    loads = [entry.at_s for entry in stage.log.entries if type(entry.event).__name__ == "Loaded"]
    assert loads == pytest.approx([0.8, 1.0, 2.0])


def test_a_smaller_budget_ends_what_can_no_longer_fit() -> None:
    stage = Stage(limits(2))
    end = stage.machine.submit(Job("a", CIRCUIT, partitions=5))
    stage.until(1.5)
    stage.machine.send(Resized(110))
    stage.env.run()
    assert isinstance(end.value, Fail)
    assert "the budget is 110 B" in end.value.why
    assert stage.policy.reserved_bytes <= 110


def test_who_proves_first_on_a_device_sends_the_key_and_who_comes_meanwhile_waits() -> None:
    gpu = Device("gpu", 2, 120)
    stage = Stage(replace(limits(8), devices=(gpu,)), pcie_bytes_per_s=50.0)
    ends = [stage.machine.submit(Job(name, KEYED)) for name in "ab"]
    stage.env.run(until=2.0 + 2.0 + 4.0 + 4.0 + 0.5 + 0.01)  # loads, synthesis, then 2 s for the key
    assert all(end.triggered for end in ends)
    proved = [entry.at_s for entry in stage.log.entries if isinstance(entry.event, Proved)]
    assert proved[1] - proved[0] == 4.0
    assert len(stage.answers(Upload)) == 1
    later = stage.machine.submit(Job("c", KEYED))
    began_s = stage.env.now
    stage.env.run(until=later)
    assert stage.env.now - began_s == pytest.approx(1.0 + 4.0 + 0.5)
    assert len(stage.answers(Upload)) == 1


def test_a_proof_that_is_stopped_while_the_key_is_sent_never_begins() -> None:
    stage = Stage(replace(limits(8), devices=(Device("gpu", 2, 120),)), pcie_bytes_per_s=1.0)
    end = stage.machine.submit(Job("a", KEYED))
    stage.until(10.0)
    stage.machine.send(Cancel("a"))
    stage.env.run()
    assert isinstance(end.value, Fail)
    assert not [entry for entry in stage.log.entries if isinstance(entry.event, Proved)]
    assert stage.policy.device_reserved_bytes("gpu") == 100
