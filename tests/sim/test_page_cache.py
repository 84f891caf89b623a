"""What was read stays in memory that nobody takes, and a machine with more of it loads sooner."""

from dataclasses import replace

import pytest

from policy import Entry, Loaded
from sim import Batch
from sim.clock import Clock
from sim.faults import Faults
from sim.host import SimulatedHost
from sim.page_cache import PageCache
from sim.scenario import Scenario, play
from sim.workload import ClosedLoop
from tests.sim.cluster import closed, host
from tests.sim.model import CIRCUIT

OTHER = replace(CIRCUIT, name="other", entries=(Entry("another srs", 100),))


def read(cache: PageCache, name: str, size_bytes: int) -> float:
    share = cache.share(name, size_bytes)
    cache.was_read(name, size_bytes)
    return share


def test_what_was_read_is_there_as_long_as_nobody_takes_the_memory() -> None:
    taken = [60.0]
    cache = PageCache(100, lambda: taken[0])
    assert read(cache, "a", 30) == 0
    assert read(cache, "a", 30) == 1
    assert read(cache, "b", 20) == 0  # so there are 10 too much
    assert read(cache, "a", 30) == 20 / 30
    assert read(cache, "b", 20) == 10 / 20  # a's other 10 took the place of b's
    taken[0] = 100.0
    assert read(cache, "b", 20) == 0


def test_where_the_memory_is_not_known_everything_stays() -> None:
    cache = PageCache()
    assert read(cache, "a", 1 << 60) == 0
    assert read(cache, "a", 1 << 60) == 1


def test_what_a_dead_process_had_begun_to_read_is_not_there() -> None:
    load = {"bytes_per_s": 10.0, "mapped_bytes_per_s": 1e9}
    scenario = closed(1, 1, host(load=load), faults={"process_death": 6.0, "restart": 1.0})
    lives = 0
    for seed in range(5):
        for run in play(scenario, seed=seed, with_log=True).runs:
            lives += 1
            if loaded_s := [entry.at_s for entry in run.log if isinstance(entry.event, Loaded)]:
                assert loaded_s[0] - run.log[0].at_s >= 2.0  # the first to be loaded
                break
    assert lives > 5


def test_what_a_process_took_is_not_forgotten_with_it() -> None:
    machine = replace(host(), memory_bytes=100)
    modelled = SimulatedHost(Clock(), machine, "budget", {}, 0, Faults(), False, lambda *_: None)
    cache = modelled.durations.page_cache
    cache.was_read("a", 30)
    cache.most_taken_bytes = lambda: 90.0  # of the process that ends
    modelled.die()
    modelled.start()
    assert cache.share("a", 30) == 10 / 30


def makespan_s(memory_bytes: int, bytes_per_s: float) -> float:
    """Of two circuits in turn, of whose keys the budget holds one at a time."""
    load = {"bytes_per_s": bytes_per_s, "mapped_bytes_per_s": 1000.0}
    machine = replace(host(room_for=1, load=load), memory_bytes=memory_bytes)
    batches = tuple([Batch(circuit, 10, 1, constraints=1) for circuit in (CIRCUIT, OTHER)])
    figures = play(Scenario(ClosedLoop(batches), (machine,)), seed=0).answers.figures
    assert figures["reloads"] > 10
    return figures["makespan_s"]


def test_evicted_keys_are_read_from_disk_again_where_there_was_no_room_for_their_files() -> None:
    assert makespan_s(1000, 10.0) < makespan_s(250, 10.0)
    slower_s = {size: makespan_s(size, 10.0) - makespan_s(size, 100.0) for size in (130, 250, 1000)}
    assert slower_s[1000] < slower_s[250] < slower_s[130]
    assert slower_s[1000] == pytest.approx(200 / 10 - 200 / 100)  # each key once
