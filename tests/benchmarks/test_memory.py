"""The benches of memory on circuits so small that they take seconds."""

from pathlib import Path

import pytest

from benchmarks.memory import pools
from benchmarks.memory.circuits import make
from benchmarks.memory.kill import kill_at_random
from benchmarks.memory.worker import THREADS, Task, demand_bytes
from engine import load_shape


def task(folder: Path, log2_size: int, rounds: int) -> Task:
    (circuit,) = make([log2_size], folder, lambda _: None)
    shape = load_shape(circuit.spec(THREADS))
    budget_bytes = max(demand_bytes([shape], rounds) // 3, shape.entries_bytes + shape.working_bytes)
    return Task("task", [circuit.as_dict()], rounds, budget_bytes, str(folder), warm_up=False)


def test_killed_at_any_moment_a_batch_leaves_all_in_order(tmp_path: Path) -> None:
    found = kill_at_random(task(tmp_path, 8, 4), times=2, seed=1, report=lambda _: None)
    assert found["killed"] == 2


def test_every_choice_of_threads_makes_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "ROUNDS", 1)
    (circuit,), said = make([8], tmp_path, lambda _: None), list[str]()
    found = pools.pools([circuit.spec(1)], 2, said.append)
    assert found.keys() == pools.choices(1).keys()
    assert len(said) == 2 * len(found)
    for seconds in found.values():
        assert 0 < max(seconds["synthesize"], seconds["prove"]) < seconds["batch"]
