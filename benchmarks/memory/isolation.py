"""Whether the size of one pool slows the other's work: both kept to cores of their own, or to none."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import numpy as np

from config import Config, GpusConfig, MemoryConfig, SynthesisConfig
from engine.pools import Pools
from kernels.cpu.vectors import multiply
from kernels.fields import CURVES
from kernels.parallel import PoolRunner, run_chunks
from policy import Device, Limits

FIELD = CURVES["bn254"].fr
LENGTH = 1 << 18
MEASURE_S = 2.0
ROUNDS = 3


def isolation(report: Callable[[str], None]) -> dict[str, float]:
    """Products a second of the proving pool beside many busy threads of synthesis, by those beside one.

    1.0: it makes no difference. "own cores": each pool keeps to half of the cores, and synthesis
    has a thread for each of its own; "crowded": four for each. Says something from four cores on.
    """
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    ratios = {}
    for name, many in (("own cores", half), ("crowded", 4 * half)):
        pairs = [[_rate(threads, cores[:half], cores[half:]) for threads in (1, many)] for _ in range(ROUNDS)]
        text = ", ".join(f"{few:.3g} beside 1 and {rate:.3g} beside {many}" for few, rate in pairs)
        report(f"{name}: {text} products a second")
        ratios[name] = median(rate / few for few, rate in pairs)
    return ratios


def _rate(synthesis_threads: int, synthesis_cores: list[int], proving_cores: list[int]) -> float:
    config = Config(
        synthesis=SynthesisConfig(threads=synthesis_threads, cores=synthesis_cores),
        gpus=GpusConfig(gpu_threads=1, cores=proving_cores),
        memory=MemoryConfig(ledger="off"),
    )
    pools = Pools(config, Limits(1, 1, (Device("cpu", 1),)))
    try:
        _multiply(pools.proving(lambda: False))  # compiles
        with _busy(pools.synthesis(lambda: False)):
            return _products_a_second(pools.proving(lambda: False))
    finally:
        pools.close()


def _products_a_second(run: PoolRunner) -> float:
    count, started_s = 0, time.perf_counter()
    while (elapsed_s := time.perf_counter() - started_s) < MEASURE_S:
        _multiply(run)
        count += LENGTH
    return count / elapsed_s


@contextmanager
def _busy(run: PoolRunner) -> Iterator[None]:
    """Inside the block, the pool never lacks work."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            _multiply(run)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        done.set()
        worker.join()


def _multiply(run: PoolRunner) -> None:
    a = np.ones((LENGTH, 4), np.uint64)
    run_chunks(run, multiply, LENGTH, FIELD, a, a, a)
