"""Work that shares: the more at once, the slower each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.clock import Clock
from sim.contention import synthesis_stretch
from sim.shared import SharedWork

starts_and_sizes = st.lists(st.tuples(st.floats(0, 10), st.floats(0.01, 10)), min_size=1, max_size=8)


def ends(slowdown: float, work: list[tuple[float, float]]) -> list[float]:
    """When each piece (start, seconds alone) is done."""
    env = Clock()
    shared = SharedWork(env, synthesis_stretch(slowdown, None))
    done_s = [0.0] * len(work)

    def done(number: int) -> None:
        done_s[number] = env.now

    for number, (start_s, alone_s) in enumerate(work):
        env.call_in(start_s, lambda piece: shared.begin(*piece), (alone_s, done, number))
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
    env = Clock()
    shared = SharedWork(env, synthesis_stretch(1.0, None))
    finished: list[tuple[str, float]] = []
    pieces = {
        name: shared.begin(2.0, lambda name: finished.append((name, env.now)), name)
        for name in ("stays", "leaves")
    }
    env.run(until=1.0)
    shared.abandon(pieces["leaves"])
    env.run()
    assert finished == [("stays", pytest.approx(2.5))]


def test_the_end_of_one_may_begin_and_abandon_others() -> None:
    """first ends at 3 s, as do the other two that began with it; it drops one of them and begins another."""
    env = Clock()
    shared = SharedWork(env, synthesis_stretch(1.0, None))
    finished: list[tuple[str, float]] = []

    def done(name: str) -> None:
        finished.append((name, env.now))
        if name == "first":
            shared.abandon(third)
            shared.begin(1.0, done, "fourth")

    shared.begin(1.0, done, "first")
    shared.begin(1.0, done, "second")
    third = shared.begin(1.0, done, "third")
    env.run()
    assert finished == [("first", 3.0), ("second", 3.0), ("fourth", 4.0)]
