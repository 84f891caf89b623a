"""Proofs of one circuit together, where apart they would have keys evicted again and again."""

from policy import Priority, Shared, Tick, WaitCause
from tests.policy.scenario import Scenario, circuit, limits, partition

A, B = circuit("A", 10, 4), circuit("B", 10, 4)


def with_a_idle(budget_bytes: int = 14, **others: float | int) -> Scenario:
    """A is in memory, and a2 of it proves beside nothing else: B would have A evicted."""
    stage = Scenario(limits(budget_bytes, slots=2, workers=2, **others))
    stage.submit("a", A)
    stage.load("A")
    stage.finish("a")
    return stage


def test_what_others_wait_for_is_not_evicted_before_those_that_fit_as_they_are() -> None:
    """x holds B's place till it ends. Then b is first in turn, and would have A evicted, which c needs."""
    for sort_by_type, first in ((True, "c"), (False, "b")):
        stage = with_a_idle(16, sort_by_type=sort_by_type)
        stage.submit("x", circuit("X", 0, 6))
        stage.load("X")
        stage.submit("b", B)
        stage.submit("c", A)
        assert f"admit {first}" in stage.finish("x")


def test_work_that_goes_first_keeps_its_keys() -> None:
    """b needs A and more than is free; c comes later, and may not have A evicted meanwhile."""
    stage = with_a_idle(17)
    stage.submit("x", circuit("X", 0, 6))
    stage.load("X")
    assert stage.submit("b", circuit("A", 10, 7)) == []
    assert stage.submit("c", circuit("C", 5, 4)) == []
    assert stage.finish("x")[:3] == ["prove x", "admit b", "synthesize b"]


def test_the_first_of_a_batch_waits_for_the_rest_where_it_would_have_keys_evicted() -> None:
    stage = with_a_idle(20, max_batch_size=2, max_batch_wait_s=8.0)
    stage.submit("x", circuit("X", 0, 6))
    stage.load("X")
    assert stage.submit("b", B) == ["wake at 8"]
    assert stage.policy.wait_cause(partition("b")) is WaitCause.BATCH
    assert stage.policy.explain(partition("b")) == (
        "b[0] waits for its batch: 1 proof of 2 are there, and their SRS and PCE (10 B) have no room beside "
        "the others; they go on in 8.0 s at the latest"
    )
    assert stage.submit("c", B) == ["evict A", "admit b", "load B"]


def test_a_batch_does_not_wait_for_ever_nor_while_nothing_else_goes_on() -> None:
    for ends, after_s in ((False, 8.0), (True, 0.0)):
        stage = with_a_idle(20, max_batch_size=2, max_batch_wait_s=8.0)
        stage.submit("x", circuit("X", 0, 6))
        stage.load("X")
        stage.submit("b", B)
        answers = stage.finish("x") if ends else stage.send(Tick(), after_s)
        assert "evict A" in answers
        assert "admit b" in answers


def test_what_has_room_or_is_urgent_waits_for_no_batch() -> None:
    stage = with_a_idle(40, max_batch_size=9)
    assert stage.submit("b", B) == ["admit b", "load B"]
    stage = with_a_idle(20, max_batch_size=9)
    stage.submit("x", circuit("X", 0, 6))
    assert stage.submit("b", B, priority=Priority.CRITICAL) == ["evict A", "admit b", "load B"]


def test_what_has_room_in_a_greater_share_waits_for_no_batch() -> None:
    """As when a process begins: it has no share of the budget yet, and asks for what its line wants."""
    stage = Scenario(limits(20, max_batch_size=9))
    stage.send(Shared(0))
    assert stage.submit("a", A) == []
    wanted = stage.policy.wanted_share(0.0)
    assert wanted is not None
    assert stage.send(Shared(wanted.least_bytes)) == ["admit a", "load A"]
    stage.send(Shared(5))  # while a still works
    stage.load("A")
    stage.finish("a")
    assert stage.submit("b", B) == []  # nothing else goes on
    assert stage.policy.wait_cause(partition("b")) is WaitCause.SHARE
    assert stage.send(Shared(14))[-2:] == ["admit b", "load B"]


def test_a_batch_goes_through_before_others_have_their_turn() -> None:
    stage = Scenario(limits(100, max_batch_size=2))
    for name, kind in (("p", A), ("q", B), ("x", circuit("X", 0, 2))):
        stage.submit(name, kind)
        stage.load(kind.name)
        if name != "x":
            stage.finish(name)
    for name, kind in (("a", A), ("b", B), ("c", A), ("d", A)):
        stage.submit(name, kind)
    order, last = "", "x"
    for _ in range(4):
        words = stage.finish(last)
        last = next(word for word in words if word.startswith("admit")).split()[1]
        order += last
    assert order == "acbd"
