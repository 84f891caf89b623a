"""Whose turn it is: priorities and ageing, whole proofs first, and overtaking that has an end."""

from policy import Device, Limits, Priority, Tick, WaitCause
from tests.policy.scenario import Scenario, circuit, limits, partition

SMALL, LARGE = circuit("S", 0, 2), circuit("L", 0, 9)


def hold_all(stage: Scenario) -> None:
    """Job x takes the only slot, so that others have to wait."""
    stage.submit("x", SMALL)
    stage.load("S")


def order_of_admission(stage: Scenario, first: str, count: int) -> str:
    """The jobs that get the slot one after another."""
    admitted, last = "", first
    for _ in range(count):
        words = stage.finish(last)
        last = next(word for word in words if word.startswith("admit")).split()[1]
        admitted += last[0]
    return admitted


def test_urgent_work_goes_first_and_equal_work_in_its_order() -> None:
    stage = Scenario(limits(100))
    hold_all(stage)
    for job, priority in zip("abcde", [3, 2, 0, 1, 2], strict=True):
        stage.submit(job, SMALL, priority=Priority(priority))
    assert order_of_admission(stage, "x", 5) == "cdbea"


def test_waiting_is_worth_priority() -> None:
    stage = Scenario(limits(100, ageing_s=10.0))
    hold_all(stage)
    stage.submit("a", SMALL, priority=Priority.LOW)
    stage.send(Tick(), after_s=29.0)
    stage.submit("b", SMALL, priority=Priority.CRITICAL)
    stage.send(Tick(), after_s=2.0)
    stage.submit("c", SMALL, priority=Priority.CRITICAL)
    assert order_of_admission(stage, "x", 3) == "bac"


def test_partitions_of_a_started_proof_go_before_new_proofs() -> None:
    """b starts before a since it fits beside y; when y is done, a would fit too, but b's rest goes first."""
    stage = Scenario(limits(10))
    stage.submit("y", LARGE)
    stage.load("L")
    stage.submit("a", circuit("M", 0, 9))
    assert stage.submit("b", circuit("N", 0, 1), partitions=2) == ["admit b", "load N"]
    stage.load("N")
    assert stage.synthesized("y") == ["synthesize b", "prove y"]
    stage.synthesized("b")
    assert stage.prove("y") == ["admit b1", "synthesize b1", "prove b", "complete y"]


def test_small_work_passes_large_work_so_often_and_not_more() -> None:
    stage = Scenario(limits(10, slots=2, workers=2, overtake_limit=3))
    hold_all(stage)
    stage.submit("y", LARGE)
    for job in "abcdef":
        stage.submit(job, SMALL)
    assert stage.policy.partitions() == [partition("x"), partition("a")]
    stage.finish("x")
    stage.finish("a")
    assert stage.policy.partitions() == [partition("b"), partition("c")]
    assert stage.finish("b") == ["prove b", "complete b"]
    assert stage.policy.explain(partition("d")) == (
        "d[0] waits for memory: y was overtaken 3 times and goes first; it needs 9 B, and of the budget of "
        "10 B 8 B are free and 0 B held by idle SRS and PCE"
    )
    assert stage.finish("c") == ["prove c", "admit y", "load L", "complete c"]
    assert stage.load("L") == ["synthesize y"]


def test_without_overtaking_the_line_is_strict() -> None:
    stage = Scenario(limits(10, slots=2, overtake_limit=0))
    hold_all(stage)
    stage.submit("y", LARGE)
    assert stage.submit("a", SMALL) == []
    assert stage.finish("x") == ["prove x", "admit y", "load L", "complete x"]


def test_a_wide_partition_is_passed_only_so_often_before_a_device() -> None:
    devices = (Device("gpu", 2, memory_bytes=10),)
    stage = Scenario(Limits(1000, 8, devices, synthesis_lookahead=8, overtake_limit=1))
    for job, device_bytes in zip("abcd", [6, 8, 2, 2], strict=True):
        name = job.upper()
        stage.submit(job, circuit(name, 0, 2, device_bytes))
        stage.load(name)
    assert stage.synthesized("a") == ["prove a"]
    assert stage.synthesized("b") == []
    assert stage.synthesized("c") == ["prove c"]
    assert stage.prove("c") == ["complete c"]
    assert stage.synthesized("d") == []
    assert stage.prove("a") == ["prove b", "prove d", "complete a"]


def test_lookahead_keeps_work_from_piling_up_before_the_devices() -> None:
    stage = Scenario(limits(100, slots=1, synthesis_lookahead=1))
    stage.submit("a", SMALL, partitions=4)
    stage.load("S")
    assert stage.synthesized("a") == ["admit a1", "synthesize a1", "prove a"]
    assert stage.synthesized("a1") == []
    assert "waits for the devices" in stage.policy.explain(partition("a2"))
    assert stage.prove("a") == ["admit a2", "synthesize a2", "prove a1"]


def test_no_more_is_loaded_ahead_than_can_synthesize_next() -> None:
    """b is ready and waits for the devices, so the disk has nothing to do for c yet."""
    stage = Scenario(limits(100, slots=1, synthesis_lookahead=1))
    stage.submit("a", SMALL, partitions=2)
    stage.load("S")
    stage.synthesized("a")
    stage.synthesized("a1")
    assert stage.submit("b", circuit("B", 1, 2)) == ["admit b", "load B"]
    assert stage.load("B") == []
    assert stage.submit("c", circuit("C", 1, 2)) == []
    assert stage.prove("a") == ["admit c", "load C", "synthesize b", "prove a1"]


def test_no_lookahead_means_no_overlap() -> None:
    stage = Scenario(limits(100, slots=4, synthesis_lookahead=0))
    stage.submit("a", SMALL, partitions=3)
    assert stage.load("S") == ["synthesize a"]
    assert stage.synthesized("a") == ["prove a"]
    assert stage.prove("a") == ["synthesize a1"]


def test_what_is_due_goes_as_early_as_it_has_to() -> None:
    """c is due before b came; d is due so late that it keeps its place."""
    stage = Scenario(limits(100))
    hold_all(stage)
    stage.submit("b", SMALL, after_s=100.0)
    stage.submit("c", SMALL, due_s=50.0)
    stage.submit("d", SMALL, due_s=1e9)
    stage.submit("e", SMALL)
    assert order_of_admission(stage, "x", 4) == "cbde"


def test_when_to_begin_is_learned_from_the_last_proof_of_the_circuit() -> None:
    """A proof of S has taken 30 s; so one that is due at 125 s has to begin at 95 s, before b came."""
    stage = Scenario(limits(100))
    hold_all(stage)
    stage.send(Tick(), after_s=30.0)
    stage.finish("x")
    stage.submit("y", SMALL)
    stage.submit("b", SMALL, priority=Priority.CRITICAL, after_s=70.0)
    stage.submit("c", SMALL, priority=Priority.CRITICAL, due_s=125.0)
    assert order_of_admission(stage, "y", 2) == "cb"


def test_working_sets_without_a_device_are_bounded_in_bytes() -> None:
    stage = Scenario(limits(100, slots=9, synthesis_lookahead=9, lookahead_bytes=5))
    stage.submit("a", SMALL, partitions=9)
    stage.load("S")
    assert len(stage.policy.partitions()) == 3  # 2 bytes each
    assert stage.policy.wait_cause(partition("a3")) is WaitCause.LOOKAHEAD
    assert stage.policy.explain(partition("a3")) == (
        "a[3] waits for the devices: working sets of 6 B wait before it, the lookahead is 5 B"
    )
    assert stage.synthesized("a") == ["admit a3", "synthesize a3", "prove a"]


def test_a_lookahead_smaller_than_a_partition_still_feeds_the_devices() -> None:
    stage = Scenario(limits(100, slots=9, workers=2, synthesis_lookahead=9, lookahead_bytes=1))
    stage.submit("a", SMALL, partitions=9)
    stage.load("S")
    assert len(stage.policy.partitions()) == 2
