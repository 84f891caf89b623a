"""Work that shares: the more at once, the slower each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment, Event

from sim.shared import SharedWork

starts_and_sizes = st.lists(st.tuples(st.floats(0, 10), st.floats(0.01, 10)), min_size=1, max_size=8)


def ends(slowdown: float, work: list[tuple[float, float]]) -> list[float]:
    """When each piece (start, seconds alone) is done."""
    env = Environment(initial_time=0.0)
    shared = SharedWork(env, slowdown)
    done_s = [0.0] * len(work)

    def one(number: int):  # type: ignore[no-untyped-def]  # a generator of SimPy's
        start_s, alone_s = work[number]
        yield env.timeout(start_s)
        yield shared.begin(alone_s)
        done_s[number] = env.now

    for number in range(len(work)):
        env.process(one(number))
    env.run()
    return done_s


def test_two_at_once_take_half_as_long_again() -> None:
    assert ends(0.5, [(0, 2), (0, 2)]) == pytest.approx([3, 3])
    assert ends(0.5, [(0, 2), (0, 1)]) == pytest.approx([2.5, 1.5])
    assert ends(0.5, [(0, 2), (1, 2)]) == pytest.approx([2.5, 3.5])


@given(starts_and_sizes)
def test_without_slowdown_nobody_notices_the_others(work: list[tuple[float, float]]) -> None:
    assert ends(0.0, work) == pytest.approx([start + alone for start, alone in work])


@given(starts_and_sizes)
def test_one_at_a_time_in_effect_is_never_idle_and_never_faster(work: list[tuple[float, float]]) -> None:
    done_s = ends(1.0, work)
    assert max(done_s) <= max(start for start, _ in work) + sum(alone for _, alone in work) + 1e-6
    assert all(done >= start + alone - 1e-6 for done, (start, alone) in zip(done_s, work, strict=True))
    together = ends(1.0, [(0.0, alone) for _, alone in work])
    assert max(together) == pytest.approx(sum(alone for _, alone in work))


def test_abandoned_work_slows_nobody_any_more() -> None:
    env = Environment(initial_time=0.0)
    shared = SharedWork(env, 1.0)
    stays, leaves = shared.begin(2.0), shared.begin(2.0)
    finished: list[float] = []
    stays.callbacks.append(lambda _: finished.append(env.now))
    env.run(until=1.0)
    shared.abandon(leaves)
    env.run()
    assert finished == pytest.approx([2.5])
    assert not leaves.triggered
    assert isinstance(leaves, Event)
