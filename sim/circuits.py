"""Circuits by their sizes alone, so that machines can be planned for keys that nobody has here."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policy import Circuit, Entry, Priority
from sim.quantities import SizeBytes
from sim.toml_files import read_toml, validated

BUNDLED = Path(__file__).with_name("bundled_circuits.toml")
PriorityName = Literal["critical", "high", "normal", "low"]


class CircuitSizes(BaseModel):
    """What a proof of a circuit needs: entries once a host, and for each partition a working set.

    `phase1` of the `working_set` (a, b, c) is given back with the quotient. `device_memory` is what a
    partition that proves holds on a GPU, beside the `device_srs` that stays there for all of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    constraints: Annotated[int, Field(ge=1, strict=True)]
    srs: SizeBytes
    pce: SizeBytes
    working_set: SizeBytes
    phase1: SizeBytes
    device_memory: SizeBytes = 0
    device_srs: SizeBytes = 0
    partitions: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 1
    priority: PriorityName = "normal"

    @model_validator(mode="after")
    def _phase1_is_a_part(self) -> Self:
        if self.phase1 > self.working_set:
            raise ValueError(f"phase1 is {self.phase1} bytes, more than the working_set it is a part of")
        return self

    def named(self, name: str) -> "SimCircuit":
        """The circuit of these sizes."""
        entries = (Entry(f"{name} SRS", self.srs), Entry(f"{name} PCE", self.pce))
        phase2_bytes = self.working_set - self.phase1
        on_device = Entry(f"{name} SRS", self.device_srs) if self.device_srs else None
        shape = Circuit(name, entries, self.phase1, phase2_bytes, self.device_memory, on_device)
        return SimCircuit(shape, self.constraints, self.partitions, Priority[self.priority.upper()])


@dataclass(frozen=True)
class SimCircuit:
    """A circuit as the simulator proves it: its shape, and what a proof of it is by default."""

    shape: Circuit
    constraints: int | None
    partitions: int = 1
    priority: Priority = Priority.NORMAL


class _File(BaseModel):
    circuits: dict[str, CircuitSizes]


@cache
def bundled_circuits() -> Mapping[str, SimCircuit]:
    """The proofs of 32 GiB sectors on Filecoin, by their published sizes."""
    where = str(BUNDLED)
    tables = validated(_File, {"circuits": read_toml(BUNDLED, where)}, where, where)
    return {name: sizes.named(name) for name, sizes in tables.circuits.items()}
