"""Entries are loaded once, by one thread, and are gone when evicted."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine import EngineError
from engine.caches import Caches
from kernels.parallel import Run, serial
from policy import Entry


class Thing:
    """Something loaded."""


def load(_run: Run, _first: bool) -> Thing:
    return Thing()


def test_an_evicted_entry_is_gone_and_can_be_loaded_again() -> None:
    caches = Caches()
    caches.load(Entry("srs", 9), load, serial)
    watched = weakref.ref(caches.get("srs", Thing))
    caches.evict("srs")
    gc.collect()
    assert watched() is None
    assert caches.keys() == []
    caches.load(Entry("srs", 9), load, serial)
    assert isinstance(caches.get("srs", Thing), Thing)


class SizedThing(Thing):
    """It takes 9 bytes."""

    size_bytes = 9


def test_it_says_what_the_entry_takes_and_keeps_none_that_takes_too_much() -> None:
    caches = Caches()
    assert caches.load(Entry("unsized", 20), load, serial) == 20
    assert caches.load(Entry("sized", 20), lambda *_: SizedThing(), serial) == 9
    with pytest.raises(EngineError, match="takes 9 bytes, and 8 are reserved"):
        caches.load(Entry("larger", 8), lambda *_: SizedThing(), serial)
    assert caches.keys() == ["unsized", "sized"]


def test_only_the_first_load_is_told_to_check() -> None:
    told: list[bool] = []
    caches = Caches()
    for _ in range(3):
        caches.load(Entry("srs", 9), lambda _run, first: told.append(first), serial)
        caches.evict("srs")
    assert told == [True, False, False]


def test_two_loads_of_one_entry_never_happen() -> None:
    caches, inside, go_on = Caches(), threading.Event(), threading.Event()

    def slow(_run: Run, _first: bool) -> Thing:
        inside.set()
        assert go_on.wait(10)
        return Thing()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(caches.load, Entry("srs", 9), slow, serial)
        assert inside.wait(10)
        with pytest.raises(EngineError, match="was to be loaded again"):
            caches.load(Entry("srs", 9), load, serial)
        go_on.set()
        first.result()
    with pytest.raises(EngineError, match="was to be loaded again"):
        caches.load(Entry("srs", 9), load, serial)


def test_a_load_that_fails_leaves_nothing_and_checks_again() -> None:
    caches = Caches()

    def broken(_run: Run, _first: bool) -> Thing:
        raise ValueError("truncated")

    with pytest.raises(ValueError, match="truncated"):
        caches.load(Entry("srs", 9), broken, serial)
    assert caches.keys() == []
    told: list[bool] = []
    caches.load(Entry("srs", 9), lambda _run, first: told.append(first), serial)
    assert told == [True]
