"""Spreading work over threads: order, errors, stopping, and nothing left running behind the caller's back."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.parallel import PoolRunner, Stopped, balanced_chunks, chunks, run_chunks, serial, threads_of


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as executor:
        yield executor


@given(st.integers(0, 1000), st.integers(1, 50))
def test_chunks_cover_once_and_evenly(n, parts):
    ranges = chunks(n, parts)
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(n))
    sizes = [stop - start for start, stop in ranges]
    assert len(sizes) == min(n, parts)
    assert not sizes or 0 < max(sizes) <= min(sizes) + 1


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 20))
def test_balanced_chunks_cover_once_and_cost_about_the_same(costs, parts):
    before = [0, *accumulate(costs)]
    ranges = balanced_chunks(len(costs), before.__getitem__, parts)
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(len(costs)))
    assert len(ranges) <= parts
    most = sum(costs) / parts + max(costs, default=0)
    assert all(start < stop and before[stop] - before[start] <= most + 1 for start, stop in ranges)


def test_chunks_of_more_than_32_bits():
    assert chunks(2**33, 2) == [(0, 2**32), (2**32, 2**33)]


def test_results_in_order(pool):
    arguments = [(i,) for i in range(20)]
    for run in (serial, PoolRunner(pool, 2)):
        assert run(lambda i: i * i, arguments) == [i * i for i in range(20)]
        assert run(lambda i: i, []) == []
    assert threads_of(serial) == 1
    assert threads_of(PoolRunner(pool, 2)) == 2


def test_run_chunks_covers_everything(pool):
    seen = []
    run_chunks(
        PoolRunner(pool, 2), lambda name, start, stop: seen.append((name, start, stop)), 100, "x", minimum=10
    )
    assert sorted(seen) == [("x", start, stop) for start, stop in chunks(100, 8)]
    seen.clear()
    run_chunks(PoolRunner(pool, 2), lambda start, stop: seen.append((start, stop)), 100)
    assert seen == [(0, 100)]
    seen.clear()
    run_chunks(serial, lambda start, stop: seen.append((start, stop)), 0)
    assert seen == []


def test_first_error_is_raised_only_when_nothing_runs_any_more(pool):
    started, finished, called = threading.Event(), [], []

    def kernel(i):
        called.append(i)
        if i == 0:
            started.wait(10)
            raise KeyError("first")
        if i == 1:
            started.set()
            threading.Event().wait(0.1)
            finished.append(i)
            raise KeyError("second")
        time.sleep(0.01)  # all of them take far longer than it takes the waiting thread to wake up

    with pytest.raises(KeyError, match="first"):
        PoolRunner(pool, 2)(kernel, [(i,) for i in range(1000)])
    assert finished == [1]
    before = len(called)
    assert before < 1000  # the rest was cancelled
    assert pool.submit(lambda: len(called)).result() == before


def test_stop_is_noticed_before_the_next_chunk(pool):
    called = []
    runner = PoolRunner(pool, 2, stopped=lambda: len(called) >= 3)
    with pytest.raises(Stopped):
        runner(called.append, [(i,) for i in range(100)])
    assert 3 <= len(called) <= 4  # the other thread may just have looked


def test_runner_works_again_after_an_error(pool):
    runner = PoolRunner(pool, 2)
    with pytest.raises(ZeroDivisionError):
        runner(lambda x: 1 // x, [(0,), (1,)])
    assert runner(lambda x: 1 // x, [(1,)]) == [1]


def test_an_executor_that_takes_no_more_work_says_so():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        PoolRunner(executor, 1)(lambda: None, [()])


def test_threads_must_be_positive(pool):
    with pytest.raises(ValueError, match="at least 1, not 0"):
        PoolRunner(pool, 0)
