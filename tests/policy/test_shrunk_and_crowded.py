"""What comes again from a device after the budget has shrunk may fit no more."""

from policy import Device, DeviceOutOfMemory, Limits, Resized
from tests.policy.scenario import Scenario, circuit, partition


def test_what_comes_again_and_never_fits_the_smaller_budget_fails_at_once() -> None:
    stage = Scenario(Limits(20, 2, (Device("gpu", 2, 16),), synthesis_lookahead=2))
    crowded = circuit("C", 5, 2, device_bytes=7)
    stage.submit("a", crowded)
    stage.submit("b", crowded)
    stage.load("C")
    stage.synthesized("a")
    stage.synthesized("b")
    stage.send(Resized(6))
    assert stage.send(DeviceOutOfMemory(partition("b"))) == ["fail b"]
    assert stage.submit("c", crowded) == ["reject c"]
    assert stage.prove("a")[-1] == "complete a"
