"""The devices that prove: their workers, and the memory of those that have their own."""

from policy.budget import Budget, Reservation
from policy.model import Device


class DeviceWorkers:
    """One device. A partition that proves takes a worker, and `device_bytes` of the device's own memory."""

    __slots__ = ("_holds", "busy", "device", "idle", "memory")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.memory = Budget(device.memory_bytes)
        self.busy, self.idle = 0, device.workers
        self._holds: dict[object, Reservation] = {}

    def needs(self, device_bytes: int) -> int:
        """Of its own memory, for work that holds `device_bytes` where there is such memory."""
        return 0 if self.device.memory_bytes is None else device_bytes

    def take(self, holder: object, device_bytes: int) -> None:
        assert self.idle > 0, f"device {self.device.name} has no idle worker"
        self._holds[holder] = self.memory.reserve(self.needs(device_bytes))
        self.busy += 1
        self.idle -= 1

    def give_back(self, holder: object) -> None:
        self._holds.pop(holder).release()
        self.busy -= 1
        self.idle += 1


class DevicePool:
    """All devices; work goes to the one with most idle workers, to the first of equals."""

    def __init__(self, devices: tuple[Device, ...]) -> None:
        self._devices = {device.name: DeviceWorkers(device) for device in devices}
        self._all = list(self._devices.values())
        self.idle_workers = sum(device.workers for device in devices)

    def __getitem__(self, name: str) -> DeviceWorkers:
        return self._devices[name]

    def pick(self, device_bytes: int) -> DeviceWorkers | None:
        """An idle worker with enough memory free, if there is one."""
        best: DeviceWorkers | None = None
        most = 0
        for workers in self._all:
            if workers.idle > most and workers.needs(device_bytes) <= workers.memory.free_bytes:
                best, most = workers, workers.idle
        return best

    def take(self, workers: DeviceWorkers, holder: object, device_bytes: int) -> None:
        workers.take(holder, device_bytes)
        self.idle_workers -= 1

    def give_back(self, workers: DeviceWorkers, holder: object) -> None:
        workers.give_back(holder)
        self.idle_workers += 1
