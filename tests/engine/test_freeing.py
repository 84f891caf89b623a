"""Memory counts as free when nothing can reach it any more, through views, errors or threads."""

import numpy as np
import pytest

from engine import EngineError, freeing
from engine.freeing import Watched, clear_frames


def test_a_view_keeps_its_owner_in_use() -> None:
    array = np.zeros((8, 4), np.uint64)
    view = array[2:].reshape(-1)
    watched = Watched(view)
    del array
    assert watched.held_bytes() == 8 * 4 * 8
    del view
    assert watched.held_bytes() == 0


def test_memory_that_the_result_lies_in_does_not_count() -> None:
    a, b = np.zeros(4), np.zeros(8)
    watched, result = Watched(a, b), a[:2]
    assert watched.held_bytes(except_for=result) == b.nbytes
    del b
    watched.wait_until_free(except_for=result)


def test_an_array_in_a_cycle_is_found_and_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freeing, "PATIENCE_S", 0.1)
    cycle: list[object] = [np.zeros(4)]
    cycle.append(cycle)
    watched = Watched(cycle[0])  # type: ignore[arg-type]  # it is the array
    del cycle
    watched.wait_until_free()


def test_an_array_that_stays_in_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freeing, "PATIENCE_S", 0.02)
    array = np.zeros(4)
    with pytest.raises(EngineError, match="32 bytes of a partition's arrays are still in use"):
        Watched(array).wait_until_free()


def test_a_kept_error_keeps_no_arrays() -> None:
    watched: list[Watched] = []

    def inner() -> None:
        array = np.zeros(100)
        watched.append(Watched(array))
        raise ValueError("inner")

    def outer() -> None:
        array = np.zeros(100)
        watched.append(Watched(array))
        try:
            inner()
        except ValueError as error:
            raise RuntimeError("outer") from error

    with pytest.raises(RuntimeError) as kept:
        outer()
    assert [each.held_bytes() for each in watched] == [800, 800]
    clear_frames(kept.value)
    assert [each.held_bytes() for each in watched] == [0, 0]
    assert str(kept.value.__cause__) == "inner"
