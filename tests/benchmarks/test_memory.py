"""Killed at random moments, on a circuit so small that it takes seconds."""

from pathlib import Path

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
