"""The circuits of unfinished jobs: what a partition of each needs now, and who waits for which entry."""

from collections.abc import Collection, Iterable
from itertools import chain
from typing import TYPE_CHECKING

from policy.cache import EntryCache
from policy.devices import DevicePool
from policy.estimates import Estimate, Estimates
from policy.model import Circuit, Entry, Priority

if TYPE_CHECKING:
    from policy.group import Group

Rank = tuple[float, int]
Affected = Collection["CircuitRecord"]


class CircuitRecord:
    """A circuit, what its partitions are expected to take, and what is missing of its entries."""

    __slots__ = ("absent", "circuit", "entries_bytes", "estimate", "groups", "jobs", "keys", "missing_bytes")

    def __init__(self, circuit: Circuit, estimate: Estimate, cache: EntryCache) -> None:
        self.circuit = circuit
        self.estimate = estimate
        self.keys = frozenset([entry.key for entry in circuit.entries])
        self.entries_bytes = circuit.entries_bytes
        self.jobs = 0
        self.groups: dict[Priority, Group] = {}  # of jobs that wait for admission
        cached = [cache.find(entry.key) for entry in circuit.entries]
        self.absent = sum(each is None or each.loading for each in cached)  # entries not in memory
        self.missing_bytes = sum(  # of those that are not being loaded either
            entry.size_bytes for entry, each in zip(circuit.entries, cached, strict=True) if each is None
        )

    def size_of(self, key: str) -> int:
        return next(entry.size_bytes for entry in self.circuit.entries if entry.key == key)


class Circuits:
    """A record for each circuit that an unfinished job has, and by entry the records that need it."""

    def __init__(self, cache: EntryCache, devices: DevicePool) -> None:
        self._cache, self._devices = cache, devices
        self._records: dict[Circuit, CircuitRecord] = {}
        self._by_entry: dict[str, dict[CircuitRecord, None]] = {}
        self._by_device_entry: dict[str, dict[CircuitRecord, None]] = {}
        self._estimates = Estimates()

    def conflict(self, circuit: Circuit) -> str | None:
        """What is wrong, if a key of the circuit is known here with another size."""
        for entry in circuit.entries:
            cached, users = self._cache.find(entry.key), self._by_entry.get(entry.key)
            if cached is not None and cached.entry.size_bytes != entry.size_bytes:
                return _conflict(entry, cached.entry.size_bytes)
            if users is not None:
                size_bytes = next(iter(users)).size_of(entry.key)  # the others were compared with it
                if size_bytes != entry.size_bytes:
                    return _conflict(entry, size_bytes)
        return None if circuit.device_entry is None else self._conflict_on_devices(circuit.device_entry)

    def _conflict_on_devices(self, entry: Entry) -> str | None:
        resident = [cached.entry for cached in self._devices.find(entry.key)]
        needed = [record.circuit.device_entry for record in self._by_device_entry.get(entry.key, ())]
        for other in chain(resident, needed):
            if other is not None and other.size_bytes != entry.size_bytes:
                return _conflict(entry, other.size_bytes)
        return None

    def find(self, circuit: Circuit) -> CircuitRecord | None:
        return self._records.get(circuit)

    def estimate(self, circuit: Circuit) -> Estimate:
        record = self._records.get(circuit)
        return record.estimate if record is not None else self._estimates(circuit)

    def enter(self, circuit: Circuit) -> CircuitRecord:
        """A job of the circuit begins: until it ends the sizes of its entries stand."""
        record = self._records.get(circuit)
        if record is None:
            estimate = self._estimates(circuit)
            record = self._records[circuit] = CircuitRecord(circuit, estimate, self._cache)
            for entry in circuit.entries:
                self._by_entry.setdefault(entry.key, {})[record] = None
            if circuit.device_entry is not None:
                self._by_device_entry.setdefault(circuit.device_entry.key, {})[record] = None
        record.jobs += 1
        return record

    def leave(self, record: CircuitRecord) -> None:
        """A job of the circuit has ended."""
        record.jobs -= 1
        if record.jobs:
            return
        self._estimates.keep(record.circuit, record.estimate)
        del self._records[record.circuit]
        for entry in record.circuit.entries:
            _forget(self._by_entry, entry, record)
        if record.circuit.device_entry is not None:
            _forget(self._by_device_entry, record.circuit.device_entry, record)

    def device_lost(self) -> None:
        """What was learned of the lost device must not keep work from those that are left."""
        sizes = [device.memory_bytes for device in self._devices.left if device.memory_bytes is not None]
        if sizes and len(sizes) == len(self._devices.left):
            own = [(record.circuit, record.estimate) for record in self._records.values()]
            for circuit, estimate in chain(own, self._estimates):
                estimate.fit(max(sizes) - circuit.device_entry_bytes)

    def evicted(self, entries: Iterable[Entry]) -> Affected:
        """The records with work that waits to which it makes a difference."""
        return self._changed(entries, missing=1, absent=1)

    def loading(self, entries: Iterable[Entry]) -> Affected:
        """Their loads begin; of what `evicted` returns."""
        return self._changed(entries, missing=-1, absent=0)

    def loaded(self, entry: Entry) -> Affected:
        return self._changed((entry,), missing=0, absent=-1)

    def load_failed(self, entry: Entry) -> Affected:
        return self._changed((entry,), missing=1, absent=0)

    def _changed(self, entries: Iterable[Entry], missing: int, absent: int) -> Affected:
        by_entry = self._by_entry
        affected: dict[CircuitRecord, None] = {}
        for entry in entries:
            missing_bytes = missing * entry.size_bytes
            for record in by_entry.get(entry.key, ()):
                was_absent = record.absent
                record.missing_bytes += missing_bytes
                record.absent = now_absent = was_absent + absent
                if record.groups and (missing_bytes or not was_absent or not now_absent):
                    affected[record] = None
        return affected

    def wanted_before(self, key: str, rank: Rank) -> bool:
        """Whether work that ranks before waits for admission and needs the entry."""
        return any(
            group.rank < rank for record in self._by_entry.get(key, ()) for group in record.groups.values()
        )

    def wanted(self, key: str) -> bool:
        """Whether work waits for admission that needs the entry."""
        return any(record.groups for record in self._by_entry.get(key, ()))


def _forget(by_entry: dict[str, dict[CircuitRecord, None]], entry: Entry, record: CircuitRecord) -> None:
    users = by_entry[entry.key]
    del users[record]
    if not users:
        del by_entry[entry.key]


def _conflict(entry: Entry, size_bytes: int) -> str:
    return (
        f"entry {entry.key} has {entry.size_bytes} bytes here, {size_bytes} bytes elsewhere;"
        " a file that was replaced must get another key"
    )
