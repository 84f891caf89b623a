"""Every wait of a simulated run has the cause that it lasted longest for."""

from policy import PartitionId
from sim import rows_of, simulate
from tests.sim.model import batch, limits, profile


def test_the_first_waits_for_its_keys_and_the_others_for_memory_and_the_device() -> None:
    run = simulate(batch(3, 3), limits(room_for=1, slots=1, workers=1), profile())
    first, second = (PartitionId(f"circuit #{number}", 0) for number in (1, 2))
    assert run.stage_causes[first] == {"wait": [None, None], "load": ["load"], "queue": [None]}
    assert run.stage_causes[second] == {"wait": ["memory", None], "load": [None], "queue": [None]}
    run = simulate(batch(3, 3), limits(room_for=9, slots=9, workers=1), profile())
    assert run.stage_causes[second]["queue"] == ["device"]


def test_they_are_in_the_rows_of_stages() -> None:
    run = simulate(batch(3, 3), limits(room_for=1, slots=1, workers=1), profile())
    _, many = rows_of(run, "name", "version")
    stages = list(many[0][1])
    causes = [(each["name"], each["wait_cause"]) for each in stages if each["wait_cause"] is not None]
    assert causes == [("load", "load"), ("wait", "memory"), ("wait", "memory")]
