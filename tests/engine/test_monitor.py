"""The monitor sees memory that was really taken, keeps the peaks and ends its thread."""

import threading
import time

import numpy as np
import pytest

from engine.monitor import MemoryMonitor, Sample

MIB = 1 << 20


def watch(samples: list[Sample], interval_s: float = 0.005) -> MemoryMonitor:
    return MemoryMonitor(time.monotonic, lambda: 7, samples.append, interval_s)


def test_samples_carry_reserved_bytes_and_rise_in_time() -> None:
    samples: list[Sample] = []
    monitor = watch(samples)
    monitor.start()
    while len(samples) < 4:
        time.sleep(0.001)
    monitor.stop()
    assert "memory-monitor" not in {thread.name for thread in threading.enumerate()}
    assert {sample.reserved_bytes for sample in samples} == {7}
    assert [sample.at_s for sample in samples] == sorted({sample.at_s for sample in samples})


def test_the_peak_holds_memory_that_is_free_again() -> None:
    samples: list[Sample] = []
    monitor = watch(samples)
    monitor.start()
    before_bytes = samples[0].rss_bytes
    ballast = np.ones(200 * MIB, dtype=np.uint8)
    held = monitor.sample()
    del ballast
    monitor.stop()
    assert held.rss_bytes - before_bytes > 150 * MIB
    assert monitor.peak_rss_bytes >= held.rss_bytes > samples[-1].rss_bytes


def test_an_error_in_the_thread_is_raised_at_the_end() -> None:
    calls = 0

    def fail_in_the_thread(_: Sample) -> None:
        nonlocal calls
        calls += 1
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("no room for samples")

    monitor = MemoryMonitor(time.monotonic, lambda: 0, fail_in_the_thread, 0.001)
    monitor.start()
    while calls < 2:
        time.sleep(0.001)
    with pytest.raises(ValueError, match="no room"):
        monitor.stop()
