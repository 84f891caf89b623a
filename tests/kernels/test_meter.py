"""Held memory is counted over all threads of a piece of work, and of no other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernels.cpu.ntt import Domain
from kernels.fields import BN254
from kernels.meter import Meter, holding, holding_bytes
from kernels.parallel import PoolRunner, serial


def test_what_is_held_at_once_adds_up_and_what_is_held_in_turn_does_not():
    meter = Meter()
    with meter.counting():
        for nbytes in (10, 30, 20):
            with holding_bytes(100), holding(np.zeros(nbytes, np.uint8), np.zeros(1, np.int64)):
                pass
    assert meter.peak_bytes == 100 + 30 + 8
    with meter.holding_bytes(200):
        pass
    assert meter.peak_bytes == 200


def test_an_error_ends_what_was_held():
    meter = Meter()
    with meter.counting(), pytest.raises(KeyError), holding_bytes(7):
        raise KeyError
    with meter.counting(), holding_bytes(5):
        pass
    assert meter.peak_bytes == 7


def test_chunks_in_threads_count_together_and_those_of_others_apart():
    barrier = threading.Barrier(2)

    def kernel(nbytes):
        with holding_bytes(nbytes):
            barrier.wait(10)  # both are inside

    first, second = Meter(), Meter()
    with ThreadPoolExecutor(2) as pool:
        run = PoolRunner(pool, 2)
        with first.counting(), holding_bytes(100):
            run(kernel, [(1,), (2,)])
            with second.counting():
                run(kernel, [(10,), (20,)])
        run(kernel, [(1000,), (1000,)])  # nobody counts
    assert (first.peak_bytes, second.peak_bytes) == (103, 30)


def test_without_threads_the_caller_counts():
    meter = Meter()
    with meter.counting():
        serial(lambda nbytes: holding_bytes(nbytes).__enter__(), [(3,)])
    assert meter.peak_bytes == 3


@pytest.mark.parametrize("lanes", ["off", "auto"])
@pytest.mark.parametrize("log2_size", [3, 10])
def test_a_transforms_buffers_count(lanes, log2_size, monkeypatch):
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", lanes)
    domain, meter = Domain(BN254.fr, log2_size), Meter()
    with meter.counting():
        domain.to_odd_coset(np.zeros((1 << log2_size, 4), np.uint64), serial)
    assert 32 << min(log2_size, 5) <= meter.peak_bytes <= 41 << 10
