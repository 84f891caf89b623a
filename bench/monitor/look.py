"""One look at a process after the other, each with what it did since the one before."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from pathlib import Path

import psutil

from bench.errors import BenchError
from bench.monitor.finding import Target
from bench.monitor.gpus import Gpus, has_gpus
from bench.monitor.sample import PoolUse, ProcessSample

_NUMBER = re.compile(r"[-_/:]?\d+$")
_SHARE_OF_TIME = 50  # a look at shared pages holds the process up, so it may take a fiftieth of the time
MAIN, OTHER = "main", "other"


class Look:
    """Takes samples of `target`; must be closed. `unknown`: what cannot be told, and why, for people."""

    def __init__(self, target: Target, begun_s: float | None = None) -> None:
        """begun_s: what samples count from, by time.monotonic(); None: now."""
        self.target = target
        try:
            self._process = psutil.Process(target.pid)
        except psutil.Error as error:
            raise BenchError(f"process {target.pid} ({target.found_by}) has ended") from error
        self._gpus = Gpus()
        self._looked_s = time.monotonic()
        self._started_s = self._looked_s if begun_s is None else begun_s
        self._cpu_s: dict[int, float] = {}
        self._next_pss_s = 0.0
        self._pss_bytes: int | None = None
        self.unknown: list[str] = []
        if self._gpus.why_none is not None and has_gpus():
            self.unknown.append(f"memory of GPUs: {self._gpus.why_none}")

    def take(self) -> ProcessSample:
        """Raises BenchError where the process has ended, or may not be looked at."""
        if not self.target.alive:
            raise BenchError(f"process {self.target.pid} ({self.target.found_by}) has ended")
        now_s = time.monotonic()
        try:
            memory = self._process.memory_info()
            pools = self._pools(now_s)
        except psutil.NoSuchProcess as error:
            raise BenchError(f"process {self.target.pid} has ended") from error
        except psutil.Error as error:
            raise BenchError(f"process {self.target.pid}: may not be looked at ({error})") from error
        return ProcessSample(
            at_s=round(now_s - self._started_s, 3),
            rss_bytes=memory.rss,
            file_bytes=getattr(memory, "shared", 0),
            pss_bytes=self._pss(now_s),
            threads=sum(pool.threads for pool in pools.values()),
            cores=round(sum(pool.cores for pool in pools.values()), 3),
            pools=pools,
            gpus=self._gpus.look(self.target.pid),
        )

    def close(self) -> None:
        """Let go of libraries."""
        self._gpus.close()

    def _pools(self, now_s: float) -> dict[str, PoolUse]:
        before, since_s = self._cpu_s, now_s - self._looked_s
        own_name = _name(self.target.pid, self.target.pid)
        found = {each.id: each.user_time + each.system_time for each in self._process.threads()}
        counts: defaultdict[str, int] = defaultdict(int)
        busy_s: defaultdict[str, float] = defaultdict(float)
        for thread, cpu_s in found.items():
            pool = MAIN if thread == self.target.pid else pool_of(_name(self.target.pid, thread), own_name)
            counts[pool] += 1
            busy_s[pool] += cpu_s - before.get(thread, 0.0) if before else 0.0
        self._cpu_s, self._looked_s = found, now_s
        rate = 1 / since_s if since_s > 0 else 0.0
        return {pool: PoolUse(counts[pool], round(busy_s[pool] * rate, 3)) for pool in sorted(counts)}

    def _pss(self, now_s: float) -> int | None:
        """As last told, where asking at every look would cost the process too much."""
        if now_s < self._next_pss_s:
            return self._pss_bytes
        begun_s = time.monotonic()
        try:
            self._pss_bytes = getattr(self._process.memory_full_info(), "pss", None)
        except psutil.Error as error:
            self._pss_bytes, self._next_pss_s = None, float("inf")
            self.unknown.append(f"the proportional share of memory: {error}")
            return None
        self._next_pss_s = now_s + _SHARE_OF_TIME * (time.monotonic() - begun_s)
        return self._pss_bytes


def pool_of(name: str, process_name: str) -> str:
    """By a thread's name: "synthesis_3" is of synthesis. One without a name has the process's."""
    pool = _NUMBER.sub("", name)
    return pool if pool and name != process_name else OTHER


def _name(pid: int, thread: int) -> str:
    """Empty where the thread has ended, or this system names none."""
    try:
        return Path(f"/proc/{pid}/task/{thread}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
