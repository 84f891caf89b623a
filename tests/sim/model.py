"""A small circuit and a machine whose times are round numbers."""

from typing import Any

from policy import Circuit, Device, Entry, Limits
from sim import Batch, MachineProfile, SimulatedRun

CIRCUIT = Circuit("circuit", (Entry("srs", 80), Entry("pce", 20)), phase1_bytes=10, phase2_bytes=10)
ENTRIES_BYTES = 100


def profile(**changes: Any) -> MachineProfile:
    """Loads 100 bytes a second, synthesizes in 1 s, proves in 4 s, verifies in 0.5 s."""
    settings: dict[str, Any] = {
        "name": "test",
        "load": {"bytes_per_s": 100.0},
        "synthesize": {"seconds": 1.0},
        "prove": {"seconds": 4.0},
        "verify": {"seconds": 0.5},
        **changes,
    }
    return MachineProfile.model_validate(settings)


def limits(room_for: int, slots: int = 8, workers: int = 8, **others: Any) -> Limits:
    """A budget in which `room_for` partitions of CIRCUIT fit at a time."""
    return Limits(ENTRIES_BYTES + 20 * room_for, slots, (Device("cpu", workers),), **others)


def batch(count: int, concurrency: int, partitions: int = 1, constraints: int | None = 1) -> Batch:
    return Batch(CIRCUIT, count, concurrency, partitions, constraints=constraints)


def at_once(run: SimulatedRun, began: type, ended: type) -> int:
    """The most partitions between a decision and an event at any moment."""
    running = most = 0
    for entry in run.log:
        running -= isinstance(entry.event, ended)
        running += sum(isinstance(decision, began) for decision in entry.decisions)
        most = max(most, running)
    return most
