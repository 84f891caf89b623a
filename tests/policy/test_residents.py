"""What lies on the devices: sent once, shared, evicted for others only, and gone with a lost device."""

import pytest

from policy import (
    BudgetPolicy,
    Circuit,
    Device,
    DeviceLost,
    DeviceOutOfMemory,
    Displaced,
    Entry,
    Fail,
    Failed,
    Limits,
    PartitionState,
    ProtocolError,
    Proved,
    QuotientDone,
    Reject,
    Submit,
    Synthesized,
)
from policy.model import Job
from tests.policy.scenario import Scenario, partition


def keyed(name: str, entry_bytes: int = 6, device_bytes: int = 2) -> Circuit:
    return Circuit(name, (), 1, 1, device_bytes, Entry(name.lower(), entry_bytes))


def stage(*devices: Device, **others: int) -> Scenario:
    return Scenario(Limits(100, 8, devices, synthesis_lookahead=8, **others))  # type: ignore[arg-type]  # a test


def gpu(number: int, memory_bytes: int = 10, workers: int = 2) -> Device:
    return Device(f"gpu{number}", workers, memory_bytes)


def proves(scenario: Scenario, name: str, circuit: Circuit) -> list[str]:
    """A job of one partition up to its device."""
    scenario.submit(name, circuit)
    return scenario.synthesized(name)


def test_two_partitions_share_the_entry_that_was_sent_for_the_first() -> None:
    some = stage(gpu(0))
    assert proves(some, "a", keyed("K")) == ["upload k to gpu0", "prove a"]
    assert proves(some, "b", keyed("K")) == ["prove b"]
    assert some.policy.device_reserved_bytes("gpu0") == 6 + 2 + 2


def test_the_entry_stays_for_the_next_proof() -> None:
    some = stage(gpu(0))
    proves(some, "a", keyed("K"))
    some.prove("a")
    assert some.policy.device_reserved_bytes("gpu0") == 6
    assert proves(some, "b", keyed("K")) == ["prove b"]


def test_idle_entries_go_least_recently_used_first_and_only_where_that_makes_room() -> None:
    some = stage(gpu(0, 20))
    for name, key in zip("abc", "KLK", strict=True):
        proves(some, name, keyed(key, 6))
        some.prove(name)
    assert proves(some, "d", keyed("M", 10, 2)) == ["evict l from gpu0", "upload m to gpu0", "prove d"]
    assert some.policy.device_reserved_bytes("gpu0") == 6 + 12
    assert proves(some, "e", keyed("N", 10, 2)) == []  # without what d needs there is no room for it
    assert some.policy.explain(partition("e")) == (
        "e[0] waits for a device: 10 B of its memory for the SRS, and 2 B beside it, are not free"
    )
    some.send(QuotientDone(partition("d")))
    assert some.send(Proved(partition("d"))) == ["evict m from gpu0", "upload n to gpu0", "prove e"]


def test_no_entry_in_use_goes() -> None:
    some = stage(gpu(0))
    proves(some, "a", keyed("K"))
    assert proves(some, "b", keyed("L")) == []
    assert some.send(Proved(partition("a"))) == ["evict k from gpu0", "upload l to gpu0", "prove b"]


def test_a_partition_goes_where_its_entry_is_and_else_to_the_emptiest() -> None:
    some = stage(gpu(0), gpu(1))
    assert proves(some, "a", keyed("K")) == ["upload k to gpu0", "prove a"]
    assert proves(some, "b", keyed("L")) == ["upload l to gpu1", "prove b"]
    some.prove("a")
    assert proves(some, "c", keyed("L")) == ["prove c"]  # though gpu0 has two idle workers
    assert some.policy.device_reserved_bytes("gpu1") == 10


def test_a_partition_does_not_wait_for_the_device_that_holds_its_entry() -> None:
    some = stage(gpu(0, 20, 1), gpu(1, 20, 1))
    assert proves(some, "a", keyed("K")) == ["upload k to gpu0", "prove a"]
    assert proves(some, "b", keyed("K")) == ["upload k to gpu1", "prove b"]
    some.prove("a")
    some.prove("b")
    assert proves(some, "c", keyed("K")) == ["prove c"]


def test_nothing_is_evicted_where_another_device_has_room() -> None:
    some = stage(gpu(0), gpu(1, workers=1))
    proves(some, "a", keyed("K"))
    some.prove("a")
    assert proves(some, "b", keyed("L")) == ["upload l to gpu1", "prove b"]


def test_processors_keep_no_entry() -> None:
    some = stage(Device("cpu", 2))
    assert proves(some, "a", keyed("K", 10**9, 10**9)) == ["prove a"]


def test_an_entry_and_a_partition_that_fit_no_device_are_refused_with_the_numbers() -> None:
    policy = BudgetPolicy(Limits(100, 1, (gpu(0), gpu(1, 8))))
    (refused,) = policy.handle(Submit(Job("a", keyed("K", 8, 3))), 0.0)
    assert refused == Reject(
        "a",
        "one partition of K needs 11 B of a device's memory (8 B SRS, 3 B beside it), the largest device has"
        " 10 B; a device of 11 B would do",
    )


def test_an_entry_of_another_size_under_the_same_key_is_refused() -> None:
    some = stage(gpu(0))
    proves(some, "a", keyed("K", 6))
    assert some.submit("b", Circuit("L", (), 1, 1, 2, Entry("k", 5))) == ["reject b"]
    some.prove("a")
    assert some.submit("c", Circuit("L", (), 1, 1, 2, Entry("k", 5))) == ["reject c"]  # it still lies there
    assert some.submit("d", Circuit("L", (Entry("k", 5),), 1, 1))[0] == "admit d"  # in host memory


def test_out_of_memory_fewer_share_what_the_entry_leaves() -> None:
    some = stage(gpu(0, 16, 3))
    for name in "abc":
        proves(some, name, keyed("K"))
    some.send(DeviceOutOfMemory(partition("c")))
    assert some.policy.capacity([keyed("K")])[0].on_devices == 2  # 10 bytes beside it were too few for three
    assert some.synthesized("c") == ["prove c"]
    assert some.policy.device_reserved_bytes("gpu0") == 6 + 2 + 2 + 4


def test_what_a_lost_device_proved_is_proved_by_another() -> None:
    some = stage(gpu(0), gpu(1))
    proves(some, "a", keyed("K"))
    proves(some, "b", keyed("K"))
    assert some.send(DeviceLost("gpu0")) == []
    assert some.policy.device_reserved_bytes("gpu0") == 4
    assert some.send(Displaced(partition("a"))) == ["admit a", "synthesize a"]
    assert some.synthesized("a") == ["upload k to gpu1", "prove a"]
    assert some.prove("b")[-1:] == ["complete b"]  # it came to its end all the same
    assert some.policy.device_reserved_bytes("gpu0") == 0
    assert proves(some, "c", keyed("L")) == []
    assert some.policy.explain(partition("c")).endswith("are not free; gpu0 lost")


def test_what_no_device_is_left_for_fails_and_says_why() -> None:
    some = stage(gpu(0, 20), gpu(1, 8))
    small, large = keyed("K", 4), keyed("L", 10)
    some.submit("s", small)
    some.submit("a", large, 2)
    some.synthesized("a")
    some.submit("b", large)
    some.send(Synthesized(partition("b")))
    decisions = some.policy.handle(DeviceLost("gpu0"), some.now_s)
    assert [each for each in decisions if isinstance(each, Fail)] == []  # what runs is stopped first
    assert some.policy.state(partition("a1")) is PartitionState.STOPPING
    assert some.policy.state(partition("b")) is PartitionState.PROVING
    failed = some.policy.handle(Displaced(partition("b")), some.now_s)
    assert failed == [
        Fail(
            "b",
            "one partition of L needs 12 B of a device's memory (10 B SRS, 2 B beside it), the largest device"
            " has 8 B; a device of 12 B would do; gpu0 is lost",
        )
    ]
    assert some.submit("c", large) == ["reject c"]
    assert some.synthesized("s") == ["upload k to gpu1", "prove s"]


def test_without_any_device_nothing_is_taken() -> None:
    some = stage(gpu(0))
    some.submit("a", keyed("K"))
    some.send(DeviceLost("gpu0"))
    assert some.policy.state(partition("a")) is PartitionState.STOPPING
    assert some.send(Failed(partition("a"), "stopped")) == ["fail a"]
    (refused,) = some.policy.handle(Submit(Job("b", keyed("K"))), 0.0)
    assert refused == Reject("b", "one partition of K needs a device, and none is left; gpu0 is lost")
    assert some.policy.capacity([keyed("K")])[0].on_devices == 0


def test_what_a_lost_device_has_taught_keeps_nothing_from_a_smaller_one() -> None:
    some = stage(gpu(0, 40), gpu(1, 10))
    for name in "ab":
        proves(some, name, keyed("K"))
    some.send(DeviceOutOfMemory(partition("b")))  # 18 bytes for each of two were too few: 34 // 2 + 1
    some.send(DeviceLost("gpu0"))
    some.send(Displaced(partition("a")))
    assert some.synthesized("b") == ["upload k to gpu1", "prove b"]
    assert some.policy.device_reserved_bytes("gpu1") == 10


@pytest.mark.parametrize("event", [DeviceLost("gpu7"), DeviceLost("gpu1"), Displaced(partition("a"))])
def test_what_cannot_be_lost_is_refused(event: DeviceLost | Displaced) -> None:
    some = stage(gpu(0), gpu(1))
    proves(some, "a", keyed("K"))
    some.send(DeviceLost("gpu1"))
    with pytest.raises(ProtocolError):
        some.send(event)
    assert some.send(QuotientDone(partition("a"))) == []
