"""The devices that prove: their workers, and what lies in the memory of those that have their own."""

from collections.abc import Iterator

from policy.budget import Budget, Reservation
from policy.cache import CachedEntry
from policy.model import Circuit, Device, Entry
from policy.residents import Residents


class DeviceWorkers:
    """One device. A partition that proves takes a worker, and `device_bytes` of the device's own memory
    beside its circuit's entry there, which stays for those to come.
    """

    __slots__ = ("busy", "device", "entries", "held", "idle", "is_lost", "memory")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.memory = Budget(device.memory_bytes)
        self.entries = Residents(self.memory)
        self.busy, self.idle = 0, device.workers
        self.is_lost = False
        self.held: dict[object, tuple[Reservation | None, CachedEntry | None]] = {}  # by who holds it

    def holds(self, entry: Entry | None) -> bool:
        return entry is not None and self.entries.find(entry.key) is not None

    def evictions_for(self, entry: Entry | None, device_bytes: int) -> list[CachedEntry] | None:
        """The entries that have to go for such work, least recently used first; None if it has no room."""
        if self.device.memory_bytes is None:
            return []
        lacking_bytes = device_bytes - self.memory.free_bytes
        if entry is not None and self.entries.find(entry.key) is None:
            lacking_bytes += entry.size_bytes
        if lacking_bytes <= 0:
            return []
        if lacking_bytes > self.entries.idle_bytes:
            return None
        return self.entries.plan_eviction(lacking_bytes, lambda key: key == (entry and entry.key)) or None

    def hold(self, holder: object, entry: Entry | None, device_bytes: int, now_s: float) -> bool:
        """Whether the entry has to be sent there for it."""
        if self.device.memory_bytes is None:
            return False
        used, missing = (None, False) if entry is None else self.entries.use(entry, now_s)
        self.held[holder] = (self.memory.reserve(device_bytes) if device_bytes else None, used)
        return missing

    def let_go(self, holder: object, now_s: float) -> None:
        reservation, used = self.held.pop(holder, (None, None))
        if reservation is not None:
            reservation.release()
        if used is not None:
            self.entries.release([used], now_s)

    def lose(self) -> None:
        """No worker is idle any more, and no entry there; what proves may still end."""
        self.is_lost = True
        self.idle = 0
        self.held = {holder: (reservation, None) for holder, (reservation, _) in self.held.items()}
        self.entries.lose_all()


Place = tuple[DeviceWorkers, list[CachedEntry]]
"""Where a partition can prove, and the entries that have to go from there for it."""


class DevicePool:
    """All devices. Work goes to one that holds its entry, if that can take it; of such to one where nothing
    has to go for it; of those to the one with most idle workers, to the first of equals.
    """

    def __init__(self, devices: tuple[Device, ...]) -> None:
        self.by_name = {device.name: DeviceWorkers(device) for device in devices}
        self._all = list(self.by_name.values())
        self.idle_workers = sum(device.workers for device in devices)
        self.left = devices  # those that are not lost
        self.lost: tuple[str, ...] = ()

    def find(self, key: str) -> Iterator[CachedEntry]:
        """The entry of this key on each device that holds it."""
        for workers in self._all:
            cached = workers.entries.find(key)
            if cached is not None:
                yield cached

    def pick(self, circuit: Circuit, device_bytes: int) -> Place | None:
        """An idle worker with room, if there is one."""
        places: list[Place] = []
        entry = circuit.device_entry
        for workers in self._all:
            if workers.idle:
                evictions = workers.evictions_for(entry, device_bytes)
                if evictions is not None:
                    places.append((workers, evictions))
        if len(places) < 2:
            return places[0] if places else None
        return max(places, key=lambda place: (place[0].holds(entry), not place[1], place[0].idle))

    def take(
        self, workers: DeviceWorkers, holder: object, circuit: Circuit, device_bytes: int, now_s: float
    ) -> bool:
        """Whether the circuit's entry has to be sent there for it."""
        assert workers.idle > 0, f"device {workers.device.name} has no idle worker"
        self.idle_workers -= 1
        workers.idle -= 1
        workers.busy += 1
        entry = circuit.device_entry
        return (entry is not None or device_bytes > 0) and workers.hold(holder, entry, device_bytes, now_s)

    def give_back(self, workers: DeviceWorkers, holder: object, now_s: float) -> None:
        workers.busy -= 1
        if not workers.is_lost:
            workers.idle += 1
            self.idle_workers += 1
        if workers.held:
            workers.let_go(holder, now_s)

    def lose(self, name: str) -> None:
        workers = self.by_name[name]
        self.idle_workers -= workers.idle
        workers.lose()
        self.left = tuple([device for device in self.left if device.name != name])
        self.lost += (name,)
