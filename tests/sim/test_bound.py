"""No simulated run is faster than its work allows, and an ideal one is as fast."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import Circuit, Device, Entry, Job, Limits
from sim.bound import lower_bounds, speed_of_light_s
from sim.clock import Clock
from sim.contention import Cores
from sim.durations import Durations
from sim.kinds import policy_of
from sim.machine import SimulatedMachine
from tests.sim.model import profile

seconds = st.floats(0.01, 20)
circuits = st.builds(
    Circuit,
    st.sampled_from("abc"),
    st.just((Entry("srs", 50),)),
    st.integers(0, 60),
    st.integers(1, 40),
)
jobs = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5)), min_size=1, max_size=12)
cores = st.none() | st.builds(
    Cores,
    count=st.integers(1, 8),
    synthesis_threads=st.integers(1, 8),
    proving_threads=st.integers(1, 8),
    synthesis_cores=st.floats(0.5, 4),
    proving_cores=st.floats(0.5, 8),
)
profiles = st.fixed_dictionaries(
    {
        "synthesis_slowdown": st.floats(0, 1),
        "host_before_share": st.floats(0, 0.4),
        "host_after_share": st.floats(0, 0.4),
        "device_slowdown": st.floats(0, 1),
        "quotient_share": st.floats(0, 1),
        "spread": st.floats(0, 0.8),
        "synthesize": st.builds(lambda s: {"seconds": s}, seconds),
        "prove": st.builds(lambda s: {"seconds": s}, seconds),
        "verify": st.builds(lambda s: {"seconds": s}, seconds),
        "cores": cores,
    }
)
limits = st.builds(
    Limits,
    st.integers(150, 1000),
    st.integers(1, 8),
    st.sampled_from(
        [(Device("cpu", 1),), (Device("cpu", 3),), (Device("gpu0", 2, 999), Device("gpu1", 1, 999))]
    ),
    st.integers(0, 4),
)


def run(
    given_limits: Limits, changes: dict[str, Any], work: list[Job], policy: str, concurrency: int, seed: int
) -> tuple[float, SimulatedMachine]:
    """When the last proof ends, and the machine."""
    env = Clock()
    machine_profile = profile(**changes)
    durations = Durations(machine_profile, dict.fromkeys("abc", 1), seed)
    machine = SimulatedMachine(env, policy_of(policy, given_limits), machine_profile, durations)
    remaining, ended_s = iter(work), [0.0]

    def lane():  # type: ignore[no-untyped-def]  # a generator of SimPy's
        for job in remaining:
            yield machine.submit(job)
            ended_s[0] = env.now

    for _ in range(concurrency):
        env.process(lane())
    env.run()
    return ended_s[0], machine


@settings(max_examples=150, deadline=None)
@given(
    limits,
    profiles,
    st.lists(circuits, min_size=3, max_size=3, unique_by=lambda each: each.name),
    jobs,
    st.sampled_from(["budget", "fixed:2"]),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_no_run_beats_its_bound(
    given_limits: Limits,
    changes: dict[str, Any],
    of: list[Circuit],
    asked: list[tuple[int, int]],
    policy: str,
    concurrency: int,
    seed: int,
) -> None:
    if changes["cores"] is not None:
        changes = {**changes, "host_before_share": 0.0, "host_after_share": 0.0}
    work = [Job(f"job {number}", of[index], count) for number, (index, count) in enumerate(asked)]
    end_s, machine = run(given_limits, changes, work, policy, concurrency, seed)
    bounds = lower_bounds(machine.work, given_limits, profile(**changes), in_budget=policy == "budget")
    for resource, bound_s in bounds.items():
        assert bound_s <= end_s * (1 + 1e-9), resource


def test_a_device_that_is_never_idle_reaches_its_bound() -> None:
    """Synthesis takes 1 s and proving 4 s on one GPU; nothing is loaded."""
    bare = Circuit("a", (), 10, 10)
    given_limits = Limits(1000, 8, (Device("gpu0", 2, 999),), 8)
    end_s, machine = run(given_limits, {}, [Job(f"job {n}", bare) for n in range(20)], "budget", 20, 0)
    assert end_s == pytest.approx(1 + 20 * 4 + 0.5)
    assert speed_of_light_s(machine.work, given_limits, profile()) == pytest.approx(end_s)


def test_without_completed_proofs_there_is_no_bound() -> None:
    given_limits = Limits(1000, 8, (Device("gpu0", 2, 999),), 8)
    _, machine = run(given_limits, {}, [], "budget", 1, 0)
    assert lower_bounds(machine.work, given_limits, profile()) == {}
