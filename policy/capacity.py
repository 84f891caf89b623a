"""How many partitions really fit: beside the SRS and PCE that they need, and on the devices."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from policy.estimates import Estimate
from policy.model import Circuit, Device, Limits


@dataclass(frozen=True, slots=True)
class Capacity:
    """Of one circuit. Counts are of partitions that hold their whole working set at once.

    alone       beside the circuit's own entries, with nothing else in memory
    beside_all  beside the entries of all the circuits that were asked about; 0 if those do not fit together
    on_devices  that prove at once: by workers, and by the devices' memory where they have their own
    under_way   that prove, wait for a device or synthesize, were memory no matter: slots and lookahead
    """

    circuit: str
    entries_bytes: int
    working_bytes: int
    alone: int
    beside_all: int
    on_devices: int
    under_way: int

    @property
    def at_once(self) -> int:
        """Alone on the machine."""
        return min(self.alone, self.under_way)

    @property
    def bound(self) -> Literal["budget", "slots"]:
        """What keeps a further one from it: memory, or else slots, workers and lookahead."""
        return "budget" if self.alone <= self.under_way else "slots"


def capacities(
    limits: Limits,
    circuits: Iterable[Circuit],
    estimate: Callable[[Circuit], Estimate] = Estimate,
    devices: Sequence[Device] | None = None,
) -> tuple[Capacity, ...]:
    """Of each circuit, in the order given. An entry that several share is counted once.

    devices: those that prove, if not all of the limits do. A working set of 0 bytes is taken as 1 byte, so
    that every count is finite.
    """
    circuits = list(circuits)
    devices = limits.devices if devices is None else devices
    all_bytes = sum({entry.key: entry.size_bytes for each in circuits for entry in each.entries}.values())
    found = []
    for circuit in circuits:
        expected = estimate(circuit)
        working_bytes = max(1, expected.working_bytes)
        on_devices = sum(_on_device(device, circuit, expected.device_bytes) for device in devices)
        found.append(
            Capacity(
                circuit.name,
                circuit.entries_bytes,
                expected.working_bytes,
                alone=max(0, limits.budget_bytes - circuit.entries_bytes) // working_bytes,
                beside_all=max(0, limits.budget_bytes - all_bytes) // working_bytes,
                on_devices=on_devices,
                under_way=on_devices + _ahead(limits, working_bytes),
            )
        )
    return tuple(found)


def _ahead(limits: Limits, working_bytes: int) -> int:
    """How many at most synthesize, or wait for a device, while all workers prove."""
    if not limits.synthesis_lookahead:
        return 0
    ahead = limits.synthesis_slots + limits.synthesis_lookahead - 1
    if limits.lookahead_bytes is None:
        return ahead
    return min(ahead, -(-limits.lookahead_bytes // working_bytes))


def beside_entry(device: Device, circuit: Circuit, device_bytes: int) -> int | None:
    """How many partitions the device's memory holds beside their circuit's entry, whatever its workers.

    None: any number, since it works in host memory or they take none of its own.
    """
    if device.memory_bytes is None:
        return None
    beside_bytes = device.memory_bytes - circuit.device_entry_bytes
    if beside_bytes < 0:
        return 0
    return beside_bytes // device_bytes if device_bytes else None


def _on_device(device: Device, circuit: Circuit, device_bytes: int) -> int:
    fitting = beside_entry(device, circuit, device_bytes)
    return device.workers if fitting is None else min(device.workers, fitting)
