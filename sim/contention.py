"""How stages at work at the same time slow each other down: shared memory bandwidth and shared cores.

A stretch says how many seconds one second of work takes. It depends on how many partitions synthesize and how
many prove on the processors.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from policy import Limits
from sim.hardware import device_kind

Stretch = Callable[[int, int], float]
"""Of the number at work in the same stage, itself among them, and of that in the other."""

Count = Annotated[int, Field(ge=1, le=10_000)]
BY_SIZE = 0.75
Threads = Annotated[float, Field(ge=1, le=10_000)]
"""A share of one on hosts whose cores are no multiple of those that are known."""
Busy = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Cores(BaseModel):
    """The processors, and what is taken of them by synthesis, by proving on them, and by a GPU's host work.

    count            cores of the machine whose times are known
    ..._threads      of the engine's pools; None: one a core
    synthesis_cores  how many cores a partition keeps busy while it synthesizes alone, on average
    proving_cores    the same while it proves on the processors
    host_cores       the same in the CPU work of a proof before and after a GPU's part
    by_size          see `sim.shared`; where processors prove

    Whoever wants more than there is gets what he wants in proportion (generalized processor sharing: Parekh
    and Gallager, 1993).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: Count
    synthesis_threads: Threads | None = None
    proving_threads: Threads | None = None
    synthesis_cores: Busy = 1.0
    proving_cores: Busy = 1.0
    host_cores: Busy = 1.0
    by_size: Annotated[float, Field(ge=0, le=1)] = BY_SIZE

    def on(self, count: int) -> "Cores":
        """The same with so many cores. Pools and what proving keeps busy grow in proportion to them."""
        ratio = count / self.count
        return self.model_copy(
            update={
                "count": count,
                "synthesis_threads": _in_proportion(self.synthesis_threads, ratio),
                "proving_threads": _in_proportion(self.proving_threads, ratio),
                "proving_cores": self.proving_cores * ratio,
            }
        )

    def synthesis_stretch(self, synthesizing: int, proving: int) -> float:
        """For at least one that synthesizes."""
        pool = self.synthesis_threads or self.count
        return _pooled(synthesizing, self.synthesis_cores, pool) * self._crowded(synthesizing, proving, 0)

    def proving_stretch(self, proving: int, synthesizing: int) -> float:
        """For at least one that proves on the processors."""
        pool = self.proving_threads or self.count
        return _pooled(proving, self.proving_cores, pool) * self._crowded(synthesizing, proving, 0)

    def host_stretch(self, at_work: int, synthesizing: int) -> float:
        """For `at_work` proofs that have host work before or after a GPU's part."""
        return self._crowded(synthesizing, 0, at_work)

    def check_stretch(self, synthesizing: int, proving: int) -> float:
        """For the check of a proof, which keeps one core busy, beside those that prove on the processors."""
        return self._crowded(synthesizing, proving, 1 / self.host_cores)

    def _crowded(self, synthesizing: int, proving: int, host: float) -> float:
        """Cores that are wanted, over those that there are."""
        synthesis = min(synthesizing * self.synthesis_cores, self.synthesis_threads or self.count)
        prove = min(proving * self.proving_cores, self.proving_threads or self.count)
        return max(1.0, (synthesis + prove + host * self.host_cores) / self.count)


def _pooled(at_work: int, each: float, threads: float) -> float:
    """Threads that are wanted, over those of the pool."""
    return max(1.0, at_work * each / threads)


def _in_proportion(threads: float | None, ratio: float) -> float | None:
    return None if threads is None else max(1.0, threads * ratio)


def cores_of(limits: Limits, machine: Mapping[str, Any], settings: Mapping[str, Any]) -> Cores | None:
    """The processors of a recorded run, by its machine and settings; None where it does not tell them.

    Pools whose size is not set are as `engine.limits` makes them: all of the processors, and half of them for
    synthesis where they prove as well.
    """
    count = machine.get("cores")
    if not isinstance(count, int):
        return None
    synthesis, gpus = settings.get("synthesis", {}), settings.get("gpus", {})
    usual = max(1, count // 2) if device_kind(limits) == "cpu" else count
    return Cores(
        count=count,
        synthesis_threads=synthesis.get("threads") or len(synthesis.get("cores", ())) or usual,
        proving_threads=gpus.get("gpu_threads") or len(gpus.get("cores", ())) or count,
    )


def synthesis_stretch(slowdown: float, cores: Cores | None) -> Stretch:
    """By bandwidth each of m at work takes 1 + (m - 1)·`slowdown` times as long, and at least m·`slowdown`.

    Of those that synthesize m is what the cores let work: who waits for a core loads no memory. So more cores
    are never slower, and once they are all busy more at once do neither more nor less together.
    """

    @cache
    def stretch(synthesizing: int, proving: int) -> float:
        of_cores = 1.0 if cores is None else cores.synthesis_stretch(synthesizing, proving)
        at_work = synthesizing / of_cores
        return max(1.0, at_work * slowdown, 1.0 + (at_work - 1.0) * slowdown) * of_cores

    return stretch
