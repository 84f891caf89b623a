"""What the machine holds: entries, partitions, jobs and devices, and their sums."""

from collections.abc import Iterable

from policy import Circuit, Entry, Job, Limits, PartitionId
from sim.torture.expected import Expected
from sim.torture.line import Line, Waiting
from sim.torture.on_devices import HeldDevice, Stored
from sim.torture.violation import expect


class Held:
    """An admitted partition: how far it is ("admitted", "synthesizing", "synthesized", "proving", "quotient",
    "proved") and what it holds.
    """

    __slots__ = (
        "at",
        "circuit",
        "device",
        "device_bytes",
        "expected",
        "host_bytes",
        "id",
        "job",
        "keys",
        "passed",
        "phase1_bytes",
        "place",
        "rank",
        "stopping",
    )

    def __init__(
        self, job: "Running", partition: PartitionId, host_bytes: int, phase1_bytes: int, waiting: Waiting
    ) -> None:
        self.id = partition
        self.job = job
        self.circuit: Circuit = job.job.circuit
        self.expected = job.expected
        self.host_bytes = host_bytes
        self.phase1_bytes = phase1_bytes
        self.rank, self.place = waiting.rank, waiting.place
        self.device_bytes = 0
        self.keys = job.expected.keys
        self.at = "admitted"
        self.device: HeldDevice | None = None
        self.stopping = False
        self.passed = 0  # by others that got a device


class Running:
    """A job that was taken and has not ended."""

    __slots__ = ("expected", "failing", "job", "live", "started_s", "verified")

    def __init__(self, job: Job, expected: Expected) -> None:
        self.job = job
        self.expected = expected
        self.started_s: float | None = None
        self.live: dict[PartitionId, Held] = {}
        self.verified = 0
        self.failing = False

    @property
    def comes_to_a_device(self) -> bool:
        """Whether an admitted partition has still to come to one."""
        return any(held.at in ("admitted", "synthesizing", "synthesized") for held in self.live.values())


class Holdings:
    """The sums are kept as things come and go; nothing is looked up in the policy."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.now_s = 0.0
        self.host_bytes = 0
        self.limit_bytes = limits.budget_bytes  # the budget, or this process's share of it
        self.share_bytes: int | None = None
        self.ceiling_bytes = limits.budget_bytes  # above the limit only after it was lowered
        self.wake_at_s: float | None = None
        self.line = Line(limits)
        self.jobs: dict[str, Running] = {}
        self._expected: dict[Circuit, Expected] = {}
        self._sizes: dict[str, set[int]] = {}  # by the key of an entry: all that jobs said
        self.partitions: dict[PartitionId, Held] = {}
        self.admitted: dict[PartitionId, Held] = {}  # those that load or wait for a synthesis slot
        self.queue: dict[PartitionId, Held] = {}  # those that wait for a device
        self.synthesizing = 0
        self.holding = 0  # partitions with a working set
        self.stored: dict[str, Stored] = {}
        self.idle: dict[str, Stored] = {}  # the longest idle first
        self.idle_bytes = 0
        self.loading = 0
        self.changes = 0  # of what is stored, and of what of that loads
        self.ahead_bytes = 0  # working sets of partitions that no device has yet
        self.devices = {device.name: HeldDevice(device) for device in limits.devices}
        self.idle_workers = sum(device.workers for device in limits.devices)
        self.failed_now: list[Running] = []  # jobs that began to fail with the last event
        self.ended_now: Running | None = None  # the job whose partition ended with the last event

    @property
    def stalled(self) -> bool:
        """Nothing holds memory for work and nothing loads: no event to come can free any."""
        return not self.holding and not self.loading

    def expected(self, circuit: Circuit) -> Expected:
        expected = self._expected.get(circuit)
        if expected is None:
            expected = self._expected[circuit] = Expected(circuit)
        return expected

    def is_replaced(self, circuit: Circuit) -> bool:
        """Whether an entry of it has another size in memory, or in a job that has not ended."""
        sizes = _sizes(circuit.entries, circuit.device_entry)
        for key, size_bytes in sizes.items():
            self._sizes.setdefault(key, set()).add(size_bytes)
        if all(len(self._sizes[key]) == 1 for key in sizes):
            return False
        known = [_sizes([stored.entry for stored in self.stored.values()], None)]
        for device in self.devices.values():
            known += [_sizes((), stored.entry) for stored in device.stored.values()]
        for running in self.jobs.values():
            known.append(_sizes(running.job.circuit.entries, running.job.circuit.device_entry))
        return any(sizes.get(key, size) != size for each in known for key, size in each.items())

    def never_fits(self, expected: Expected) -> bool:
        return expected.entries_bytes + expected.working_bytes > self.limits.budget_bytes

    def never_proves(self, circuit: Circuit) -> bool:
        return not any(device.can_ever_take(circuit) for device in self.devices.values())

    @property
    def ahead_count(self) -> int:
        return len(self.admitted) + self.synthesizing + len(self.queue)

    def old_enough(self, stored: Stored) -> bool:
        return stored.idle_since_s + self.limits.eviction_min_idle_s <= self.now_s

    def in_memory(self, expected: Expected) -> bool:
        """All entries of the circuit."""
        if expected.seen != self.changes:
            expected.look_up(self.stored, self.changes)
        return expected.in_memory

    def missing_bytes(self, expected: Expected) -> int:
        """Of entries of the circuit that are neither in memory nor being loaded."""
        if expected.seen != self.changes:
            expected.look_up(self.stored, self.changes)
        return expected.missing_bytes

    def _take_bytes(self, size_bytes: int) -> None:
        if self.ceiling_bytes > self.limit_bytes:
            self.ceiling_bytes = max(self.limit_bytes, min(self.ceiling_bytes, self.host_bytes))
        self.host_bytes += size_bytes
        if self.host_bytes > self.ceiling_bytes:
            expect(1, False, "%s bytes are held of a budget of %s", self.host_bytes, self.ceiling_bytes)

    def _give_back(self, held: Held) -> None:
        """All that is still held, as it was taken."""
        if held.at == "proved":
            return
        if held.at == "synthesizing":
            self.synthesizing -= 1
        if held.device is not None:
            self._leave_device(held, held.device)
            held.device = None
        else:
            self.ahead_bytes -= held.host_bytes
        self.holding -= 1
        self.host_bytes -= held.host_bytes
        held.host_bytes = 0
        for key in held.keys:
            stored = self.stored[key]
            stored.users -= 1
            if not stored.users and not stored.loading:
                self._now_idle(stored)
        held.keys = ()

    def _leave_device(self, held: Held, device: HeldDevice) -> None:
        device.busy -= 1
        device.used_bytes -= device.needs(held.device_bytes)
        if device.lost:
            return
        self.idle_workers += 1
        entry = device.entry_of(held.circuit)
        if entry is not None:
            stored = device.stored[entry.key]
            stored.users -= 1
            if not stored.users:
                stored.idle_since_s = self.now_s
                device.idle[entry.key] = stored

    def _forget(self, held: Held) -> None:
        self.ended_now = held.job
        del self.partitions[held.id], held.job.live[held.id]
        self.admitted.pop(held.id, None)
        self.queue.pop(held.id, None)

    def _now_idle(self, stored: Stored) -> None:
        stored.idle_since_s = self.now_s
        self.idle[stored.entry.key] = stored
        self.idle_bytes += stored.size_bytes


def _sizes(entries: Iterable[Entry], device_entry: Entry | None) -> dict[str, int]:
    """By key; those on devices are others than those in host memory."""
    sizes = {entry.key: entry.size_bytes for entry in entries}
    if device_entry is not None:
        sizes[f"{device_entry.key} on devices"] = device_entry.size_bytes
    return sizes
