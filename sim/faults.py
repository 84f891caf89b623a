"""What goes wrong, by seed: stages fail, devices are lost, processes die, disks are slow."""

from collections.abc import Iterator
from random import Random
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from sim.quantities import DurationS, PassingS, Share, passing
from sim.words import quantity

NEVER_S = 0.0
AFTER = {
    "retries": ("stage_failures",),
    "device_repair": ("device_loss",),
    "restart": ("process_death", "device_loss"),
    "slow_disk_for": ("slow_disk",),
    "slow_disk_factor": ("slow_disk",),
}
"""What says how a fault goes on, and the faults of which it does: without one of them it changes nothing."""


def _not_all(share: float) -> float:
    if not 0 <= share < 1:
        raise ValueError(
            f"found {100 * share:g}%, expected a percentage from 0% to less than 100%: no proof would be done"
        )
    return share


def _not_never(mean_s: float) -> float:
    try:
        return passing(mean_s)
    except ValueError as error:
        raise ValueError(f"{error}; leave it out for never") from error


ShareOfStages = Annotated[Share, AfterValidator(_not_all)]
MeanS = Annotated[DurationS, AfterValidator(_not_never)]


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

    A mean time that is left out: never.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage_failures: ShareOfStages = 0.0
    retries: Annotated[int, Field(ge=0, le=100)] = 2
    device_loss: MeanS = NEVER_S
    device_repair: DurationS = 600.0
    process_death: MeanS = NEVER_S
    restart: DurationS = 60.0
    slow_disk: MeanS = NEVER_S
    slow_disk_for: PassingS = 600.0
    slow_disk_factor: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 5.0

    @model_validator(mode="after")
    def _none_in_vain(self) -> Self:
        """A share of failures of nought, as where it is varied, is enough."""
        for name, faults in AFTER.items():
            if name in self.model_fields_set and not self.model_fields_set.intersection(faults):
                often = "1%" if faults[0] == "stage_failures" else "1d"
                raise ValueError(
                    f"{name} changes nothing without {' or '.join(faults)}; give that, too, "
                    f'such as faults.{faults[0]} = "{often}"'
                )
        return self

    def assumed(self) -> list[str]:
        """How faults that there are go on where nobody has said it, in words, each with the key to say it."""
        told = {
            "retries": (self.stage_failures, f"what fails is tried again {self.retries} times"),
            "device_repair": (
                self.device_loss,
                f"a lost device is back after {quantity('_s', self.device_repair)}",
            ),
            "restart": (
                self.process_death or self.device_loss,
                "a process that died, or gets one of several devices back, begins anew after "
                + quantity("_s", self.restart),
            ),
            "slow_disk_for": (self.slow_disk, f"a disk is slow for {quantity('_s', self.slow_disk_for)}"),
            "slow_disk_factor": (self.slow_disk, f"it is {self.slow_disk_factor:g} times as slow then"),
        }
        unsaid = told.keys() - self.model_fields_set
        return [f"{words} (no {key})" for key, (there, words) in told.items() if there and key in unsaid]

    @property
    def none(self) -> bool:
        """Nothing ever goes wrong."""
        return not (self.stage_failures or self.device_loss or self.process_death or self.slow_disk)


def intervals(mean_s: float, seed: str) -> Iterator[float]:
    """Seconds until the next fault, again and again; nothing where `mean_s` is 0."""
    random = Random(seed)
    while mean_s:
        yield random.expovariate(1 / mean_s)
