"""The threads: one pool for synthesis, one for proving, and those that wait for them."""

import asyncio
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from config import Config
from engine.limits import proving_threads, synthesis_threads
from engine.thread_names import show_name
from kernels.parallel import PoolRunner
from policy import Limits

P = ParamSpec("P")
T = TypeVar("T")

# Loads, verifications and the history's last flush, beside the stages that the policy counts.
OTHER_COORDINATORS = 4


class Pools:
    """Kernels run chunk by chunk in `synthesis` and `proving`, of configured size.

    A stage blocks while its chunks run, so it has a thread of its own, a coordinator, and never one of the
    pools' it waits for. No coordinator waits for another; too few of them would only delay, never deadlock.
    """

    def __init__(self, config: Config, limits: Limits) -> None:
        synthesis_cores, proving_cores = config.synthesis.cores, config.gpus.cores
        self._synthesis_threads = synthesis_threads(config, limits.devices)
        self._proving_threads = proving_threads(config)
        stages = limits.synthesis_slots + sum(device.workers for device in limits.devices)
        self._synthesis = _pool(self._synthesis_threads, "synthesis", synthesis_cores)
        self._proving = _pool(self._proving_threads, "proving", proving_cores)
        self._coordinators = _pool(stages + OTHER_COORDINATORS, "coordinator")
        self._steps = itertools.count()
        self.steps = 0  # how many chunks were begun, at least; it grows while anything gets on

    def synthesis(self, stopped: Callable[[], bool]) -> PoolRunner:
        """A run over the synthesis pool that looks at `stopped` before each chunk."""
        return PoolRunner(self._synthesis, self._synthesis_threads, self._counted(stopped))

    def proving(self, stopped: Callable[[], bool]) -> PoolRunner:
        """A run over the proving pool that looks at `stopped` before each chunk."""
        return PoolRunner(self._proving, self._proving_threads, self._counted(stopped))

    async def blocking(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that blocks, in a coordinator."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._coordinators, lambda: function(*args, **kwargs))

    def _counted(self, stopped: Callable[[], bool]) -> Callable[[], bool]:
        def step() -> bool:
            self.steps = next(self._steps)
            return stopped()

        return step

    def close(self) -> None:
        """End all threads; waits for what they do."""
        for pool in (self._coordinators, self._synthesis, self._proving):
            pool.shutdown()


def _pool(count: int, name: str, cores: Sequence[int] = ()) -> ThreadPoolExecutor:
    """Threads that keep to the cores, where there are some given."""
    return ThreadPoolExecutor(count, name, _begin, (cores,))


def _begin(cores: Sequence[int]) -> None:
    """The first that each thread of a pool does."""
    show_name()
    if cores:
        os.sched_setaffinity(0, cores)
