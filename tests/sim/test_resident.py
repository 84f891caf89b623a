"""Memory over a stage's life, in bytes of the small circuit: entries of 100, working sets of 10 and 10."""

import pytest

from policy import BudgetPolicy, Cancel, Job
from sim.clock import Clock
from sim.durations import Durations
from sim.machine import SimulatedMachine
from sim.profile import MemoryModel
from sim.resident import ResidentMemory
from tests.sim.model import CIRCUIT, limits, profile

MODEL = MemoryModel(base=7, at_start_share=0.5, prove_scratch_share=0.25)


def watched(
    model: MemoryModel, measured: dict[str, int] | None = None
) -> tuple[Clock, SimulatedMachine, ResidentMemory]:
    env, policy = Clock(), BudgetPolicy(limits(9, workers=1))
    machine = SimulatedMachine(env, policy, profile(), Durations(profile(), {"circuit": 1}, seed=0))
    memory = ResidentMemory(machine, model, measured)
    machine.watch(memory)
    return env, machine, memory


def test_a_life_from_load_to_proof() -> None:
    """Loads in 1 s, synthesizes in 1 s, proves in 4 s of which the quotient takes 2 s."""
    env, machine, memory = watched(MODEL)
    assert memory.resident_bytes() == 7
    machine.submit(Job("job", CIRCUIT))
    seen = []
    for at_s in (0.5, 1.0 + 1e-9, 1.5, 2.0 - 1e-9, 2.5, 4.5, 7.0):
        env.run(until=at_s)
        seen.append(memory.resident_bytes())
    env.run()
    assert seen == pytest.approx([107, 117, 122, 127, 132, 122, 107], abs=1e-6)
    assert memory.peak_bytes == pytest.approx(132)


def test_what_waits_for_a_device_keeps_its_memory_and_what_is_stopped_does_not() -> None:
    env, machine, memory = watched(MODEL)
    for name in ("a", "b", "c"):
        machine.submit(Job(name, CIRCUIT))
    env.run(until=2.5)
    assert memory.resident_bytes() == pytest.approx(7 + 100 + 3 * 20 + 5)
    machine.send(Cancel("c"))
    assert memory.resident_bytes() == pytest.approx(7 + 100 + 2 * 20 + 5)
    env.run()
    assert memory.resident_bytes() == pytest.approx(107)


def test_measured_working_sets_count_instead_of_reserved_ones() -> None:
    env, machine, memory = watched(MemoryModel(), {"circuit": 12})
    machine.submit(Job("job", CIRCUIT))
    env.run()
    assert memory.peak_bytes == pytest.approx(112)
