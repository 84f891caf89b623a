"""Later partitions reserve what earlier ones really took."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy import Circuit, DeviceOutOfMemory, Entry, Limits, Measured
from policy.estimates import Estimate
from policy.model import Device
from tests.policy.scenario import Scenario, circuit, limits, partition

FORMULA = Circuit("c", (), 80, 20)


def after(*measured: int) -> Estimate:
    estimate = Estimate(FORMULA)
    for working_bytes in measured:
        estimate.measured(working_bytes)
    return estimate


@pytest.mark.parametrize(
    ("measured", "working_bytes", "phase1_bytes"),
    [
        ((), 100, 80),
        ((130,), 130, 80),
        ((60, 70), 100, 80),
        ((60, 70, 65), 70, 50),
        ((60, 10, 10), 60, 40),
        ((10, 10, 10), 50, 30),
        ((130, *[60] * 7), 130, 80),
        ((130, *[60] * 8), 60, 40),
    ],
)
def test_more_counts_at_once_and_less_after_three(
    measured: tuple[int, ...], working_bytes: int, phase1_bytes: int
) -> None:
    estimate = after(*measured)
    assert (estimate.working_bytes, estimate.phase1_bytes) == (working_bytes, phase1_bytes)


@given(st.lists(st.integers(0, 1000), max_size=20))
def test_nothing_of_late_has_taken_more(measured: list[int]) -> None:
    assert after(*measured).working_bytes >= max([50, *measured[-8:]])


def test_what_is_kept_for_phase_2_is_the_formulas_or_all_there_is() -> None:
    estimate = Estimate(Circuit("c", (), 30, 70))
    for _ in range(3):
        estimate.measured(60)
    assert (estimate.working_bytes, estimate.phase1_bytes) == (60, 0)


def test_what_is_reserved_and_given_back_follows() -> None:
    stage = Scenario(limits(1000, slots=1))
    stage.submit("a", circuit("A", 10, 40), partitions=3)
    stage.load("A")
    assert stage.send(Measured(partition("a"), 60)) == []
    assert stage.synthesized("a") == ["admit a1", "synthesize a1", "prove a"]
    assert [stage.policy.reserved_bytes_of(partition(each)) for each in ("a", "a1")] == [40, 60]
    stage.prove("a")
    stage.synthesized("a1")
    assert stage.prove("a1")[:1] == []
    assert stage.policy.reserved_bytes == 10 + 60  # the entry, and a2


def test_what_no_longer_fits_fails_with_the_numbers() -> None:
    stage = Scenario(limits(60, slots=1))
    stage.submit("a", circuit("A", 10, 40))
    stage.load("A")
    stage.submit("b", circuit("A", 10, 40))
    assert stage.send(Measured(partition("a"), 51)) == ["fail b"]
    assert stage.submit("c", circuit("A", 10, 40)) == ["reject c"]


def test_fewer_go_to_a_device_that_ran_out_of_memory() -> None:
    """Three at once were too many for 90 bytes, so two go; then two were, so one goes; then it fails."""
    some = Circuit("A", (Entry("A", 1),), 1, 1, device_bytes=10)
    stage = Scenario(Limits(1000, 9, (Device("gpu", 3, memory_bytes=90),), synthesis_lookahead=9))
    stage.submit("a", some, partitions=3)
    stage.load("A")
    for name in ("a", "a1", "a2"):
        stage.synthesized(name)
    assert stage.policy.device_reserved_bytes("gpu") == 30
    assert stage.send(DeviceOutOfMemory(partition("a2"))) == ["admit a2", "synthesize a2"]
    assert stage.synthesized("a2") == ["prove a2"]  # 31 bytes beside 10 and 10
    stage.prove("a")
    assert stage.send(DeviceOutOfMemory(partition("a2"))) == ["admit a2", "synthesize a2"]
    assert stage.synthesized("a2") == ["prove a2"]  # 46 bytes beside 10
    stage.prove("a1")
    assert stage.send(DeviceOutOfMemory(partition("a2"))) == ["fail a"]
    assert stage.policy.device_reserved_bytes("gpu") == 0
