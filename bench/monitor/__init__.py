"""Watches a process from outside: memory, threads and processors by pool, and GPUs.

Numbers come from psutil and NVML, never from programs that may be missing; what cannot be known is None, and
said once, with the reason.
"""

from bench.monitor.finding import Target, by_address, by_pid, by_pid_file
from bench.monitor.look import Look
from bench.monitor.sample import GpuUse, PoolUse, ProcessSample
from bench.monitor.watch import Monitor

__all__ = [
    "GpuUse",
    "Look",
    "Monitor",
    "PoolUse",
    "ProcessSample",
    "Target",
    "by_address",
    "by_pid",
    "by_pid_file",
]
