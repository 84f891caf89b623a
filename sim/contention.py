"""How stages at work at the same time slow each other down: shared memory bandwidth and shared cores.

A stretch says how many seconds one second of work takes. It depends on how many partitions synthesize and how
many prove on the processors.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from policy import Limits

Stretch = Callable[[int, int], float]
"""Of the number at work in the same stage, itself among them, and of that in the other."""

Count = Annotated[int, Field(ge=1, le=10_000)]
BY_SIZE = 0.75
Busy = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Cores(BaseModel):
    """The processors where they prove, and what is taken of them.

    `synthesis_threads` and `proving_threads` are those of the engine's pools. `synthesis_cores` and
    `proving_cores`: how many cores a partition keeps busy in that stage when it runs alone, on average.
    Whoever wants more than there is gets what he wants in proportion.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: Count
    synthesis_threads: Count
    proving_threads: Count
    synthesis_cores: Busy = 1.0
    proving_cores: Busy = 1.0
    by_size: Annotated[float, Field(ge=0, le=1)] = BY_SIZE

    def on(self, count: int) -> "Cores":
        """The same with so many cores: what grows with them grows in proportion."""
        ratio = count / self.count
        return self.model_copy(
            update={
                "count": count,
                "synthesis_threads": max(1, round(self.synthesis_threads * ratio)),
                "proving_threads": max(1, round(self.proving_threads * ratio)),
                "proving_cores": self.proving_cores * ratio,
            }
        )

    def synthesis_stretch(self, synthesizing: int, proving: int) -> float:
        """For at least one that synthesizes."""
        return self._pooled(synthesizing, self.synthesis_cores, self.synthesis_threads) * self._crowded(
            synthesizing, proving
        )

    def proving_stretch(self, proving: int, synthesizing: int) -> float:
        """For at least one that proves."""
        return self._pooled(proving, self.proving_cores, self.proving_threads) * self._crowded(
            synthesizing, proving
        )

    def _pooled(self, at_work: int, each: float, threads: int) -> float:
        alone = min(each, threads)
        return max(1.0, at_work * alone / threads)

    def _crowded(self, synthesizing: int, proving: int) -> float:
        wanted = min(synthesizing * self.synthesis_cores, self.synthesis_threads) + min(
            proving * self.proving_cores, self.proving_threads
        )
        return max(1.0, wanted / self.count)


def cores_of(limits: Limits, machine: Mapping[str, Any], settings: Mapping[str, Any]) -> Cores | None:
    """The processors of a recorded run, by its machine and settings; None where GPUs proved.

    Pools whose size is not set are as `engine.limits` makes them: half of the processors, and all.
    """
    count = machine.get("cores")
    if not isinstance(count, int) or any(device.memory_bytes is not None for device in limits.devices):
        return None
    synthesis, gpus = settings.get("synthesis", {}), settings.get("gpus", {})
    return Cores(
        count=count,
        synthesis_threads=synthesis.get("threads") or len(synthesis.get("cores", ())) or max(1, count // 2),
        proving_threads=gpus.get("gpu_threads") or len(gpus.get("cores", ())) or count,
    )


def synthesis_stretch(slowdown: float, cores: Cores | None) -> Stretch:
    """By bandwidth each of n takes 1 + (n - 1)·`slowdown` times as long, and longer for want of cores."""
    if cores is None:
        return lambda at_work, _proving: 1.0 + (at_work - 1) * slowdown if at_work > 1 else 1.0
    of_cores = cores.synthesis_stretch
    return lambda at_work, proving: (1.0 + (at_work - 1) * slowdown) * of_cores(at_work, proving)
