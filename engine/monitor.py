"""Samples what the process really holds beside what the policy has reserved."""

import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import psutil

from engine.thread_names import show_name


class DeviceUse(NamedTuple):
    """Bytes of a device's own memory: what lies there, and what is reserved."""

    device: str
    held_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class Sample:
    """One look at the process: seconds since the run's start, and bytes."""

    at_s: float
    rss_bytes: int
    reserved_bytes: int
    file_bytes: int  # of rss_bytes: pages of mapped files, which the system can take back
    devices: tuple[DeviceUse, ...] = ()


class MemoryMonitor:
    """A thread that takes a sample every `interval_s` between start() and stop(), and keeps the peaks.

    `reserved_bytes`, `now_s` and `devices` are asked, and `on_sample` is called, in the monitor's thread.
    RSS counts the pages of mapped keys as well, which the system can take back; they are reserved too.
    """

    def __init__(
        self,
        now_s: Callable[[], float],
        reserved_bytes: Callable[[], int],
        on_sample: Callable[[Sample], None],
        interval_s: float = 0.25,
        devices: Callable[[], tuple[DeviceUse, ...]] = tuple,
    ) -> None:
        self._devices = devices
        self._now_s, self._reserved_bytes, self._on_sample = now_s, reserved_bytes, on_sample
        self._interval_s = interval_s
        self._resident = Resident()
        self._running = threading.Lock()  # held until stop(): to wait for it is cheaper than for an Event
        self._running.acquire()
        self._thread = threading.Thread(target=self._watch, name="memory-monitor", daemon=True)
        self._error: BaseException | None = None
        self._high_water_before_bytes = _high_water_bytes()
        self._peak_sampled_bytes = 0

    def start(self) -> None:
        self.last = self.sample()
        self._thread.start()

    def stop(self) -> None:
        """Take a last sample and end the thread; raises what the thread failed with, if it did."""
        self._running.release()
        self._thread.join()
        self.sample()
        self._resident.close()
        if self._error is not None:
            raise self._error

    @property
    def peak_rss_bytes(self) -> int:
        """The greatest RSS of the run: exact where it is the process's greatest so far, else as sampled."""
        high_water_bytes = _high_water_bytes()
        if high_water_bytes > self._high_water_before_bytes:
            return max(high_water_bytes, self._peak_sampled_bytes)
        return self._peak_sampled_bytes

    def sample(self) -> Sample:
        rss_bytes, file_bytes = self._resident.read()
        sample = Sample(self._now_s(), rss_bytes, self._reserved_bytes(), file_bytes, self._devices())
        self.last = sample
        self._peak_sampled_bytes = max(self._peak_sampled_bytes, sample.rss_bytes)
        self._on_sample(sample)
        return sample

    def _watch(self) -> None:
        show_name()
        try:
            next_s = time.monotonic() + self._interval_s
            while not self._running.acquire(timeout=max(0.0, next_s - time.monotonic())):
                self.sample()
                # After a long pause (a compiler holding the interpreter) one sample, not all the missed ones.
                next_s = max(next_s, time.monotonic()) + self._interval_s
        except Exception as error:
            self._error = error


class Resident:
    """The process's resident bytes, and of them those of mapped files and shared memory.

    From /proc/self/statm, see proc(5), kept open: a tenth of what psutil takes, a hundred times a second.
    """

    def __init__(self) -> None:
        try:
            self._statm: int | None = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # no Linux
            self._statm = None

    def read(self) -> tuple[int, int]:
        if self._statm is None:
            return psutil.Process().memory_info().rss, 0
        _, resident, shared, *_ = os.pread(self._statm, 100, 0).split()
        return int(resident) * _PAGE_BYTES, int(shared) * _PAGE_BYTES

    def close(self) -> None:
        if self._statm is not None:
            os.close(self._statm)
            self._statm = None


_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def _high_water_bytes() -> int:
    """The process's greatest RSS since its start (getrusage(2): KiB on Linux, bytes on macOS)."""
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes
