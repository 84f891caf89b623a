"""Stages at work at the same time: who gets how much of cores and bandwidth."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import simulate
from sim.clock import Clock
from sim.contention import Cores, Stretch, synthesis_stretch
from sim.shared import SharedWork
from tests.sim.model import batch, limits, profile

CORES = Cores(count=4, synthesis_threads=2, proving_threads=4, synthesis_cores=1.0, proving_cores=4.0)


@pytest.mark.parametrize(
    ("synthesizing", "proving", "synthesis", "proving_stretch"),
    [
        (1, 0, 1.0, None),
        (2, 0, 1.0, None),
        (4, 0, 2.0, None),  # on two threads
        (0, 1, None, 1.0),
        (0, 2, None, 2.0),
        (1, 1, 1.25, 1.25),  # five threads on four cores
        (4, 2, 2 * 1.5, 2 * 1.5),
    ],
)
def test_threads_and_cores_are_shared_in_proportion(
    synthesizing: int, proving: int, synthesis: float | None, proving_stretch: float | None
) -> None:
    if synthesis is not None:
        assert CORES.synthesis_stretch(synthesizing, proving) == pytest.approx(synthesis)
    if proving_stretch is not None:
        assert CORES.proving_stretch(proving, synthesizing) == pytest.approx(proving_stretch)


def test_a_check_keeps_one_core_busy_beside_what_else_is_at_work() -> None:
    assert CORES.check_stretch(0, 0) == CORES.check_stretch(2, 0) == 1.0
    assert CORES.check_stretch(1, 1) == pytest.approx(6 / 4)
    assert CORES.check_stretch(9, 9) == pytest.approx(7 / 4)  # pools have no more threads


def test_a_host_of_other_cores_has_pools_in_proportion() -> None:
    assert CORES.on(8) == Cores(count=8, synthesis_threads=4, proving_threads=8, proving_cores=8.0)
    assert CORES.on(1).synthesis_threads == 1


def test_bandwidth_comes_on_top_of_cores_for_those_that_have_one() -> None:
    assert synthesis_stretch(0.1, None)(11, 5) == pytest.approx(2.0)
    assert synthesis_stretch(0.1, CORES)(4, 0) == pytest.approx(1.1 * 2)  # two at work on two threads
    assert synthesis_stretch(3.0, None)(1, 0) == pytest.approx(3.0)  # the bandwidth is less than one wants
    assert synthesis_stretch(3.0, None)(4, 0) == pytest.approx(12.0)


@pytest.mark.parametrize(
    ("cores", "at_once", "stretch"),
    [(96, 10, 1.0), (48, 5, 1.0), (48, 10, 2.0), (8, 1, 1.2), (8, 10, 12.0), (1, 1, 9.6)],
)
def test_synthesis_takes_its_share_of_the_cores(cores: int, at_once: int, stretch: float) -> None:
    """A partition that keeps 9.6 cores busy alone, where nothing is lost to bandwidth."""
    of = Cores(count=96, synthesis_cores=9.6).on(cores)
    assert synthesis_stretch(0.0, of)(at_once, 0) == pytest.approx(stretch)


@settings(max_examples=300, deadline=None)
@given(
    st.floats(0, 5),
    st.builds(
        Cores,
        count=st.just(16),
        synthesis_threads=st.none() | st.integers(1, 32),
        proving_threads=st.none() | st.integers(1, 32),
        synthesis_cores=st.floats(0.1, 32),
        proving_cores=st.floats(0.1, 32),
        host_cores=st.floats(0.1, 32),
    ),
    st.integers(1, 64),
    st.integers(1, 12),
    st.integers(0, 6),
)
def test_fewer_cores_are_never_faster(
    slowdown: float, cores: Cores, fewer: int, synthesizing: int, others: int
) -> None:
    less, more = cores.on(fewer), cores.on(fewer + 1)
    slow, fast = (synthesis_stretch(slowdown, each)(synthesizing, 0) for each in (less, more))
    assert slow >= fast * (1 - 1e-9)
    slow, fast = (each.host_stretch(1 + others, synthesizing) for each in (less, more))
    assert slow >= fast * (1 - 1e-9)
    if others:  # as many core-seconds, on so many cores
        slow, fast = (each.proving_stretch(others, 0) / each.count for each in (less, more))
        assert slow >= fast * (1 - 1e-9)


def test_host_work_waits_for_cores_that_syntheses_keep_busy() -> None:
    """One of a proof after 4 s of a device, 1 s alone, while the cores have twice as much to do."""
    cores = {"count": 2, "synthesis_cores": 3.0}
    changes = {"host_after_share": 0.2, "prove": {"seconds": 5.0}, "cores": cores}
    machine = profile(**changes)
    host = machine.cores
    assert host is not None
    assert host.host_stretch(1, 0) == 1.0
    assert host.host_stretch(1, 1) == pytest.approx(1.5)  # two threads of synthesis and one more on two cores
    assert host.host_stretch(4, 0) == pytest.approx(2.0)


def ends(stretch: Stretch, by_size: float, *sizes_s: float) -> list[float]:
    env = Clock()
    work, found = SharedWork(env, stretch, by_size), dict[float, float]()
    for size_s in sizes_s:
        work.begin(size_s, lambda done: found.__setitem__(done, env.now), size_s)
    env.run()
    return [found[size_s] for size_s in sizes_s]


def test_where_steps_take_turns_what_begins_together_ends_together() -> None:
    assert ends(lambda n, _: float(n), 0.0, 1.0, 3.0) == pytest.approx([2.0, 4.0])
    assert ends(lambda n, _: float(n), 1.0, 1.0, 3.0) == pytest.approx([4.0, 4.0])
    assert ends(lambda _n, _: 1.0, 1.0, 2.0) == pytest.approx([2.0])


def test_work_beside_slows_down_while_it_lasts() -> None:
    """1 s alone; then both at half their speed until the second is done; then alone again."""
    env = Clock()
    one, two = (SharedWork(env, lambda _n, others: 2.0 if others else 1.0) for _ in range(2))
    one.beside(two)
    found: dict[str, float] = {}
    one.begin(3.0, lambda name: found.__setitem__(name, env.now), "first")
    env.run(until=1.0)
    two.begin(1.0, lambda name: found.__setitem__(name, env.now), "second")
    env.run()
    assert found == {"second": pytest.approx(3.0), "first": pytest.approx(4.0)}


def test_processors_are_kept_busy_and_no_busier() -> None:
    """Twelve proofs of 1 core-second and 4 core-seconds on 4 cores: 15 s of work, and the ends of the first
    and the last at which some cores have none."""
    cores = Cores(count=4, synthesis_threads=4, proving_threads=4, synthesis_cores=1.0, proving_cores=4.0)
    run = simulate(
        batch(12, 12),
        limits(99, slots=4, workers=4),
        profile(cores=cores, prove={"seconds": 1.0}, verify={"seconds": 1e-9}),
    )
    assert 1 + 15 <= run.end_s <= 1 + 15 + 1.5


def test_a_device_takes_longer_beside_syntheses() -> None:
    """One synthesizes for 10 s while the other proves: 4 s of a device that become 6 s, then 1 s."""
    changes = {
        "host_after_share": 0.2,
        "device_slowdown": 0.5,
        "prove": {"seconds": 5.0},
        "verify": {"seconds": 1e-9},
    }
    alone = simulate(batch(1, 1), limits(9), profile(**changes))
    assert alone.end_s == pytest.approx(1 + 1 + 5)
    observed = {"synthesize_s": [1.0, 10.0], "prove_s": [5.0], "verify_s": [1e-9]}
    for seed in range(20):
        run = simulate(batch(2, 2), limits(9), profile(**changes, circuits={"circuit": observed}), seed=seed)
        ended = {round(entry.at_s - 1, 6) for entry in run.log}
        if 8.0 in ended:
            return
    raise AssertionError("no seed drew one short and one long synthesis")
