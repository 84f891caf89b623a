"""An entry that somebody wants gone: it goes if nobody uses it, and comes back for the next who needs it."""

from policy import EntryUse, Unload
from tests.policy.scenario import Scenario, circuit, limits


def test_an_idle_entry_goes_and_is_loaded_again() -> None:
    stage, one = Scenario(limits(20)), circuit("A", 4, 2)
    stage.submit("a", one)
    assert stage.policy.entries() == [EntryUse("A", 4, 1, True)]
    assert stage.send(Unload("A")) == []  # it loads
    stage.load("A")
    assert stage.send(Unload("A")) == []  # it is used
    stage.finish("a")
    assert stage.policy.entries() == [EntryUse("A", 4, 0, False)]
    assert stage.send(Unload("A")) == ["evict A"]
    assert (stage.policy.entries(), stage.policy.reserved_bytes) == ([], 0)
    assert stage.send(Unload("A")) == []  # it is gone
    assert "load A" in stage.submit("b", one)


def test_who_waits_for_its_room_starts_at_once() -> None:
    stage = Scenario(limits(12, slots=2, workers=2, eviction_min_idle_s=100.0))
    stage.submit("a", circuit("A", 4, 2))
    stage.load("A")
    stage.finish("a")
    stage.submit("x", circuit("X", 2, 2))
    assert not any(word.startswith("admit") for word in stage.submit("b", circuit("B", 4, 2)))
    assert stage.send(Unload("A"))[:2] == ["evict A", "admit b"]
