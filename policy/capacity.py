"""How many partitions really fit: beside the SRS and PCE that they need, and on the devices."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from policy.estimates import Estimate
from policy.model import Circuit, Device, Limits


@dataclass(frozen=True, slots=True)
class Capacity:
    """Of one circuit. Counts are of partitions that hold their whole working set at once.

    alone       beside the circuit's own entries, with nothing else in memory
    beside_all  beside the entries of all the circuits that were asked about; 0 if those do not fit together
    on_devices  that prove at once: by workers, and by the devices' memory where they have their own
    """

    circuit: str
    entries_bytes: int
    working_bytes: int
    alone: int
    beside_all: int
    on_devices: int


def capacities(
    limits: Limits, circuits: Iterable[Circuit], estimate: Callable[[Circuit], Estimate] = Estimate
) -> tuple[Capacity, ...]:
    """Of each circuit, in the order given. An entry that several share is counted once.

    A working set of 0 bytes is taken as 1 byte, so that every count is finite.
    """
    circuits = list(circuits)
    all_bytes = sum({entry.key: entry.size_bytes for each in circuits for entry in each.entries}.values())
    found = []
    for circuit in circuits:
        expected = estimate(circuit)
        working_bytes = max(1, expected.working_bytes)
        found.append(
            Capacity(
                circuit.name,
                circuit.entries_bytes,
                expected.working_bytes,
                alone=max(0, limits.budget_bytes - circuit.entries_bytes) // working_bytes,
                beside_all=max(0, limits.budget_bytes - all_bytes) // working_bytes,
                on_devices=sum(_on_device(device, expected.device_bytes) for device in limits.devices),
            )
        )
    return tuple(found)


def _on_device(device: Device, device_bytes: int) -> int:
    if device.memory_bytes is None or not device_bytes:
        return device.workers
    return min(device.workers, device.memory_bytes // device_bytes)
