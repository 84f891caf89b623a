"""What the devices hold, and the rules about where a partition proves and what has to go from there."""

from collections.abc import Iterable

from policy import Circuit, Device, Entry
from sim.torture.violation import expect


class Stored:
    """An entry that loads or is in memory; `users` are admitted partitions that have no proof yet, and on a
    device those that it proves.

    It holds the `size_bytes` that it was said to need, and once it is loaded those that it needs.
    """

    __slots__ = ("entry", "idle_since_s", "loading", "size_bytes", "users")

    def __init__(self, entry: Entry, loading: bool) -> None:
        self.entry = entry
        self.size_bytes = entry.size_bytes
        self.loading = loading
        self.users = 0
        self.idle_since_s = 0.0


class HeldDevice:
    """A device's workers and own memory in use, and the entries that lie there."""

    __slots__ = ("busy", "device", "idle", "lost", "stored", "used_bytes")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.busy = 0
        self.used_bytes = 0  # by work and entries
        self.lost = False
        self.stored: dict[str, Stored] = {}
        self.idle: dict[str, Stored] = {}  # the longest idle first

    @property
    def idle_workers(self) -> int:
        return 0 if self.lost else self.device.workers - self.busy

    def entry_of(self, circuit: Circuit) -> Entry | None:
        """What it keeps for the circuit's partitions."""
        return None if self.device.memory_bytes is None else circuit.device_entry

    def needs(self, device_bytes: int) -> int:
        return 0 if self.device.memory_bytes is None else device_bytes

    def lacking_bytes(self, circuit: Circuit, device_bytes: int) -> int:
        """What such a partition needs more than is free; 0 or less where it fits as it is."""
        if self.device.memory_bytes is None:
            return 0
        entry = circuit.device_entry
        missing_bytes = 0 if entry is None or entry.key in self.stored else entry.size_bytes
        return self.used_bytes + missing_bytes + device_bytes - self.device.memory_bytes

    def evictable(self, circuit: Circuit) -> list[Stored]:
        own_key = circuit.device_entry.key if circuit.device_entry else None
        return [stored for key, stored in self.idle.items() if key != own_key]

    def could_take(self, circuit: Circuit, device_bytes: int) -> bool:
        """Whether such a partition could prove here now, if idle entries go for it."""
        if not self.idle_workers:
            return False
        lacking_bytes = self.lacking_bytes(circuit, device_bytes)
        return lacking_bytes <= 0 or lacking_bytes <= sum(
            [each.size_bytes for each in self.evictable(circuit)]
        )

    def suits(self, circuit: Circuit, device_bytes: int) -> tuple[bool, bool, int]:
        """The greater the better for such a partition."""
        entry = self.entry_of(circuit)
        holds = entry is not None and entry.key in self.stored
        return holds, self.lacking_bytes(circuit, device_bytes) <= 0, self.idle_workers

    def can_ever_take(self, circuit: Circuit) -> bool:
        own_bytes = self.device.memory_bytes
        needed_bytes = circuit.device_bytes + circuit.device_entry_bytes
        return not self.lost and (own_bytes is None or needed_bytes <= own_bytes)

    def lose(self) -> None:
        self.lost = True
        self.used_bytes -= sum([stored.size_bytes for stored in self.stored.values()])
        self.stored.clear()
        self.idle.clear()


def well_chosen(
    devices: Iterable[HeldDevice], chosen: HeldDevice, circuit: Circuit, device_bytes: int
) -> None:
    """Rule 4: nothing is sent or evicted in vain. Work goes where its entry is, else where none has to go."""
    before = True
    for device in devices:
        if device is chosen:
            before = False
        elif device.could_take(circuit, device_bytes):
            own, other = chosen.suits(circuit, device_bytes), device.suits(circuit, device_bytes)
            better = other >= own if before else other > own
            name, instead = chosen.device.name, device.device.name
            expect(4, not better, "%s proves on %s, which suits it less than %s", circuit.name, name, instead)


def rightly_evicted(device: HeldDevice, keys: list[str], circuit: Circuit, device_bytes: int) -> None:
    """Rule 4 on a device: idle ones alone, oldest first, and none in vain."""
    name = device.device.name
    for key in keys:
        expect(4, key in device.idle, "entry %s was evicted from %s while in use or not there", key, name)
    evicted = [device.idle[key] for key in keys]
    lacking_bytes = device.lacking_bytes(circuit, device_bytes)
    freed_bytes = sum([stored.size_bytes for stored in evicted])
    for stored in evicted:
        in_vain = freed_bytes - stored.size_bytes >= lacking_bytes
        expect(4, not in_vain, "entry %s was evicted from %s in vain", stored.entry.key, name)
    youngest_s = max([stored.idle_since_s for stored in evicted])
    older = [each.size_bytes for each in device.evictable(circuit) if each.idle_since_s < youngest_s]
    enough = sum(older) >= lacking_bytes
    expect(4, not enough, "an entry used more recently was evicted from %s before an older one", name)
