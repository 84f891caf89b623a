"""What goes wrong, by seed: stages fail, devices are lost, processes die, disks are slow."""

from collections.abc import Iterator
from random import Random
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sim.quantities import DurationS, Share

ShareOfStages = Annotated[Share, Field(ge=0, lt=1)]
NEVER_S = 0.0


class Faults(BaseModel):
    """How often what fails, and what comes after. Times between faults are exponential.

    stage_failures   share of syntheses and of proofs that end with an error; the proof is tried again
    retries          how often, before it counts as failed
    device_loss      mean time between losses of each device; another proves what it was proving. After
                     `device_repair` the process begins anew with all devices; without another, it waits
    process_death    mean time between deaths of each host's process; all its work begins anew after
                     `restart`, with nothing in memory
    slow_disk        mean time between spells of a host's disk, for `slow_disk_for`, in which loads take
                     `slow_disk_factor` times as long

    A mean time of 0s: never.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage_failures: ShareOfStages = 0.0
    retries: Annotated[int, Field(ge=0, le=100)] = 2
    device_loss: DurationS = NEVER_S
    device_repair: DurationS = 600.0
    process_death: DurationS = NEVER_S
    restart: DurationS = 60.0
    slow_disk: DurationS = NEVER_S
    slow_disk_for: DurationS = 600.0
    slow_disk_factor: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 5.0

    @property
    def none(self) -> bool:
        """Nothing ever goes wrong."""
        return not (self.stage_failures or self.device_loss or self.process_death or self.slow_disk)


def intervals(mean_s: float, seed: str) -> Iterator[float]:
    """Seconds until the next fault, again and again; nothing where `mean_s` is 0."""
    random = Random(seed)
    while mean_s:
        yield random.expovariate(1 / mean_s)
