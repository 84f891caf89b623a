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

    __slots__ = ("_holds", "_uses", "busy", "device", "entries", "idle", "is_lost", "memory")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.memory = Budget(device.memory_bytes)
        self.entries = Residents(self.memory)
        self.busy, self.idle = 0, device.workers
        self.is_lost = False
        self._holds: dict[object, Reservation] = {}
        self._uses: dict[object, CachedEntry] = {}

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

    def take(self, holder: object, entry: Entry | None, device_bytes: int, now_s: float) -> bool:
        """Whether the entry has to be sent there for it."""
        assert self.idle > 0, f"device {self.device.name} has no idle worker"
        missing = False
        if self.device.memory_bytes is not None:
            if entry is not None:
                self._uses[holder], missing = self.entries.use(entry, now_s)
            if device_bytes:
                self._holds[holder] = self.memory.reserve(device_bytes)
        self.busy += 1
        self.idle -= 1
        return missing

    def give_back(self, holder: object, now_s: float) -> None:
        if self.device.memory_bytes is not None:
            held, used = self._holds.pop(holder, None), self._uses.pop(holder, None)
            if held is not None:
                held.release()
            if used is not None:
                self.entries.release([used], now_s)
        self.busy -= 1
        self.idle += not self.is_lost

    def lose(self) -> None:
        """No worker is idle any more, and no entry there; what proves may still end."""
        self.is_lost = True
        self.idle = 0
        self._uses.clear()
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
        best: Place | None = None
        highest = (False, False, 0)
        entry = circuit.device_entry
        for workers in self._all:
            if workers.idle:
                evictions = workers.evictions_for(entry, device_bytes)
                if evictions is not None:
                    rank = (workers.holds(entry), not evictions, workers.idle)
                    if rank > highest:
                        best, highest = (workers, evictions), rank
        return best

    def take(
        self, workers: DeviceWorkers, holder: object, circuit: Circuit, device_bytes: int, now_s: float
    ) -> bool:
        """Whether the circuit's entry has to be sent there for it."""
        self.idle_workers -= 1
        return workers.take(holder, circuit.device_entry, device_bytes, now_s)

    def give_back(self, workers: DeviceWorkers, holder: object, now_s: float) -> None:
        workers.give_back(holder, now_s)
        self.idle_workers += not workers.is_lost

    def lose(self, name: str) -> None:
        workers = self.by_name[name]
        self.idle_workers -= workers.idle
        workers.lose()
        self.left = tuple([device for device in self.left if device.name != name])
        self.lost += (name,)
