"""Entries are loaded once, by one thread, and are gone when evicted."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine import EngineError
from engine.caches import Caches
from kernels.parallel import Run, serial


class Thing:
    """Something loaded."""


def load(_run: Run, _first: bool) -> Thing:
    return Thing()


def test_an_evicted_entry_is_gone_and_can_be_loaded_again() -> None:
    caches = Caches()
    caches.load("srs", load, serial)
    watched = weakref.ref(caches.get("srs", Thing))
    caches.evict("srs")
    gc.collect()
    assert watched() is None
    assert caches.keys() == []
    caches.load("srs", load, serial)
    assert isinstance(caches.get("srs", Thing), Thing)


def test_only_the_first_load_is_told_to_check() -> None:
    told: list[bool] = []
    caches = Caches()
    for _ in range(3):
        caches.load("srs", lambda _run, first: told.append(first), serial)
        caches.evict("srs")
    assert told == [True, False, False]


def test_two_loads_of_one_entry_never_happen() -> None:
    caches, inside, go_on = Caches(), threading.Event(), threading.Event()

    def slow(_run: Run, _first: bool) -> Thing:
        inside.set()
        assert go_on.wait(10)
        return Thing()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(caches.load, "srs", slow, serial)
        assert inside.wait(10)
        with pytest.raises(EngineError, match="was to be loaded again"):
            caches.load("srs", load, serial)
        go_on.set()
        first.result()
    with pytest.raises(EngineError, match="was to be loaded again"):
        caches.load("srs", load, serial)


def test_a_load_that_fails_leaves_nothing_and_checks_again() -> None:
    caches = Caches()

    def broken(_run: Run, _first: bool) -> Thing:
        raise ValueError("truncated")

    with pytest.raises(ValueError, match="truncated"):
        caches.load("srs", broken, serial)
    assert caches.keys() == []
    told: list[bool] = []
    caches.load("srs", lambda _run, first: told.append(first), serial)
    assert told == [True]
