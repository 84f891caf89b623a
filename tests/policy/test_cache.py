"""What is idle, in which order it would go, and that nothing goes in vain."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy import Circuit, Entry
from policy.budget import Budget
from policy.cache import EntryCache


def cache_of_idle(*sizes: int) -> EntryCache:
    """Entries "0", "1", … of these sizes, idle since second 0, 1, …"""
    cache = EntryCache(Budget(None))
    for number, size_bytes in enumerate(sizes):
        used, _ = cache.acquire(circuit_of(Entry(str(number), size_bytes)), 0.0)
        cache.loaded(used[0], size_bytes, 0.0)
        cache.release(used, float(number))
    return cache


def circuit_of(*entries: Entry) -> Circuit:
    return Circuit("circuit", entries, 0, 0)


def plan(cache: EntryCache, lacking_bytes: int, keep: tuple[str, ...] = ()) -> list[str]:
    return [cached.entry.key for cached in cache.plan_eviction(lacking_bytes, lambda key: key in keep)]


def test_least_recently_used_goes_first() -> None:
    cache = cache_of_idle(4, 4, 4)
    assert plan(cache, 3) == ["0"]
    assert plan(cache, 5) == ["0", "1"]
    assert plan(cache, 5, keep=("0",)) == ["1", "2"]
    used, _ = cache.acquire(circuit_of(Entry("0", 4)), 0.0)
    cache.release(used, 9.0)
    assert plan(cache, 3) == ["1"]


def test_nothing_goes_that_would_not_help() -> None:
    cache = cache_of_idle(1, 50, 2)
    assert plan(cache, 40) == ["1"]
    assert plan(cache, 51) == ["0", "1"]
    assert plan(cache, 54) == []
    assert plan(cache, 4, keep=("1",)) == []


@given(st.lists(st.integers(0, 20), max_size=6), st.integers(1, 60))
def test_a_plan_frees_enough_and_each_of_it_is_needed(sizes: list[int], lacking_bytes: int) -> None:
    chosen = [sizes[int(key)] for key in plan(cache_of_idle(*sizes), lacking_bytes)]
    assert bool(chosen) == (sum(sizes) >= lacking_bytes)
    assert all(sum(chosen) - size < lacking_bytes for size in chosen)


def test_in_use_and_loading_are_not_idle() -> None:
    cache = cache_of_idle(4)
    first, to_load = cache.acquire(circuit_of(Entry("0", 4), Entry("new", 9)), 0.0)
    assert to_load == [Entry("new", 9)]
    assert plan(cache, 1) == []
    cache.release(first, 1.0)
    assert plan(cache, 5) == []  # "new" still loads
    cache.loaded(first[1], 9, 2.0)
    assert plan(cache, 5) == ["new"]
    cache.acquire(circuit_of(Entry("0", 4)), 0.0)
    with pytest.raises(AssertionError, match="in use"):
        cache.evict(first[0])


def test_what_a_loaded_entry_does_not_take_is_given_back() -> None:
    budget = Budget(20)
    cache = EntryCache(budget)
    used, _ = cache.acquire(circuit_of(Entry("a", 12), Entry("b", 8)), 0.0)
    cache.loaded(used[0], 3, 1.0)
    assert budget.reserved_bytes == 11
    cache.loaded(used[1], 8, 1.0)
    cache.release(used, 2.0)
    assert cache.idle_bytes == 11
    assert sorted(plan(cache, 9)) == ["a", "b"]
    cache.evict(used[0])
    assert (budget.reserved_bytes, cache.idle_bytes) == (8, 8)
    assert cache.acquire(circuit_of(Entry("a", 12)), 3.0)[1] == [Entry("a", 12)]
    assert budget.reserved_bytes == 20  # again what it may take


def test_a_shared_entry_is_idle_when_its_last_user_is_done() -> None:
    cache = cache_of_idle(4)
    one, _ = cache.acquire(circuit_of(Entry("0", 4)), 0.0)
    other, _ = cache.acquire(circuit_of(Entry("0", 4)), 0.0)
    cache.release(one, 1.0)
    assert plan(cache, 1) == []
    cache.release(other, 2.0)
    assert plan(cache, 1) == ["0"]


def test_minimum_idle_time_divides_old_from_young() -> None:
    cache = cache_of_idle(4, 5, 6)
    cache.min_idle_s = 10.0
    for now_s, old_bytes, next_old_s in [(9.0, 0, 10.0), (11.0, 9, 12.0), (12.0, 15, inf)]:
        cache.grow_old(now_s)
        assert (cache.old_bytes, cache.next_old_s) == (old_bytes, next_old_s)
    cache.acquire(circuit_of(Entry("1", 5)), 13.0)
    assert (cache.old_bytes, cache.idle_bytes) == (10, 10)


def test_of_those_idle_for_equally_long_the_cheapest_to_load_again_goes_first() -> None:
    """Both are 4 bytes; the first took 3 s to load, the second 1 s."""
    cache = EntryCache(Budget(None))
    used, _ = cache.acquire(circuit_of(Entry("slow", 4), Entry("fast", 4)), 0.0)
    cache.loaded(used[1], 4, 1.0)
    cache.loaded(used[0], 4, 3.0)
    cache.release(used, 5.0)
    assert plan(cache, 1) == ["fast"]
    assert plan(cache, 5) == ["fast", "slow"]
