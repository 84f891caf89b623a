"""What fits on a machine: what each circuit needs, how many of its partitions have room, what bounds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.catalog import resolve
from engine.circuit import OpenCircuit, open_circuit
from engine.development_keys import prepare
from engine.errors import EngineError
from policy import Capacity, Circuit, Device, Limits, capacities
from policy.capacity import beside_entry
from policy.refusals import budget_refusal, device_refusal

if TYPE_CHECKING:
    from config import Config


@dataclass(frozen=True)
class CircuitCapacity:
    """Of one circuit: its entries' bytes, its partitions' bytes, and how many of them fit.

    pce_at_most: whether the PCE may take less, which its first load tells. calculator_bytes: 0 without one.
    device_srs_bytes and device_bytes: on a GPU, of the key for all partitions, and of each. beside_srs: how
    many each GPU's memory holds beside the key; more than it has workers never prove at once.
    refusal: why not even one partition fits, if so.
    """

    srs_bytes: int
    pce_bytes: int
    pce_at_most: bool
    calculator_bytes: int
    phase1_bytes: int
    phase2_bytes: int
    device_srs_bytes: int
    device_bytes: int
    beside_srs: dict[str, int]
    fits: Capacity
    refusal: str | None


def circuit_capacities(
    config: Config, limits: Limits, names: Sequence[str], say: Callable[[str], None]
) -> list[CircuitCapacity]:
    """Of the circuits of these names, each once; without one, all of the settings. `beside_all`: each other.

    Makes the development key of a bundled one. Raises InputError or EngineError for what cannot be used.
    """
    if not names and not config.circuits:
        raise EngineError("the settings have no [circuits]; name a bundled one, such as multiplier")
    specs = [resolve(name, config) for name in dict.fromkeys(names or config.circuits)]
    for spec in specs:
        prepare(spec, say)
    opened = [open_circuit(spec) for spec in specs]
    found = capacities(limits, [circuit.shape for circuit in opened])
    return [_told(*each, limits) for each in zip(opened, found, strict=True)]


def _told(circuit: OpenCircuit, fits: Capacity, limits: Limits) -> CircuitCapacity:
    shape = circuit.shape
    sizes = {entry.key: entry.size_bytes for entry in shape.entries}
    pce_bytes = sizes[circuit.pce_key]
    return CircuitCapacity(
        srs_bytes=sizes[circuit.srs_key],
        pce_bytes=pce_bytes,
        pce_at_most=pce_bytes == circuit.header.pce_bytes,
        calculator_bytes=sizes.get(circuit.calculator_key or "", 0),
        phase1_bytes=shape.phase1_bytes,
        phase2_bytes=shape.phase2_bytes,
        device_srs_bytes=shape.device_entry_bytes,
        device_bytes=shape.device_bytes,
        beside_srs=on_gpus(shape, limits.devices),
        fits=fits,
        refusal=budget_refusal(shape, shape.working_bytes, limits.budget_bytes)
        or device_refusal(shape, limits.devices),
    )


def on_gpus(shape: Circuit, devices: Sequence[Device]) -> dict[str, int]:
    """How many partitions the memory of each GPU holds beside what it keeps for all of them."""
    found = {device.name: beside_entry(device, shape, shape.device_bytes) for device in devices}
    return {name: count for name, count in found.items() if count is not None}
