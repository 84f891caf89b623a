"""Jobs and partitions from submission to their end, and what they hold meanwhile."""

from policy.budget import Budget
from policy.cache import CachedEntry, EntryCache
from policy.circuits import Circuits
from policy.decisions import Admit, Complete, Decision, Evict, Fail, Load, Stop
from policy.errors import ProtocolError
from policy.events import Cancel, Failed, Loaded, LoadFailed, OfPartition
from policy.group import Group
from policy.model import Job, Limits
from policy.records import JobRecord, PartitionRecord, illegal
from policy.stages import Stages
from policy.states import LOADING, READY, PartitionState, Trigger
from policy.waiting import WaitingRoom


class Work:
    """All unfinished work. Methods append to `decisions` what the driver has to do for them."""

    def __init__(self, limits: Limits, budget: Budget) -> None:
        self.budget = budget
        self.cache = EntryCache(budget, limits.eviction_min_idle_s)
        self.stages = Stages(limits)
        self.circuits = Circuits(self.cache, self.stages.devices)
        self.waiting = WaitingRoom(limits)
        self.jobs: dict[str, JobRecord] = {}
        self.closed: dict[str, JobRecord] = {}  # those that ended with the last event
        self.decisions: list[Decision] = []
        self._awaiting: dict[str, list[PartitionRecord]] = {}  # by the key of a loading entry
        self.holding = 0  # partitions with a working set, from admission to proof
        self._sequence = 0

    def stalled(self) -> bool:
        """Nothing holds memory for work or loads, so no event to come can free any."""
        return not self.holding and not self.cache.loading

    def find(self, event: OfPartition) -> PartitionRecord:
        """The admitted partition that the event speaks of."""
        partition = event.partition
        try:
            return self.jobs[partition.job_id].live[partition.index]
        except KeyError:
            raise self._unexpected(event) from None

    def _unexpected(self, event: OfPartition) -> ProtocolError:
        partition = event.partition
        job = self.jobs.get(partition.job_id)
        if job is None or not 0 <= partition.index < job.job.partitions:
            return ProtocolError(
                f"{type(event).__name__} of partition {partition}, which no unfinished job has"
            )
        return illegal(type(event), partition, job.state(partition.index))

    def loading_entry(self, event: Loaded | LoadFailed) -> CachedEntry:
        cached = self.cache.find(event.entry_key)
        if cached is None or not cached.loading:
            state = "is not in memory" if cached is None else "is loaded"
            raise ProtocolError(
                f"{type(event).__name__} of entry {event.entry_key}, which {state}, expected one that loads"
            )
        if isinstance(event, Loaded) and (event.size_bytes or 0) > cached.size_bytes:
            raise ProtocolError(
                f"Loaded of entry {event.entry_key} with {event.size_bytes} bytes,"
                f" expected at most the {cached.size_bytes} that are reserved for it"
            )
        return cached

    def take(self, job: Job, effective_s: float, now_s: float) -> bool:
        """A job begins to wait; whether it is one of the first that could start."""
        circuit = self.circuits.enter(job.circuit)
        if job.due_s is not None:
            effective_s = min(effective_s, job.due_s - circuit.estimate.job_s)
        self._sequence += 1
        record = self.jobs[job.id] = JobRecord(job, circuit, effective_s, self._sequence)
        return self.waiting.add(record, now_s)

    def evict(self, evictions: list[CachedEntry], now_s: float) -> None:
        entries = [cached.entry for cached in evictions]
        for cached in evictions:
            self.cache.evict(cached)
        self.decisions += map(Evict, entries)
        self.waiting.entries_changed(self.circuits.evicted(entries), now_s)

    def admit(self, group: Group, now_s: float) -> None:
        """The next partition of the group's first job gets its working set and all its entries, at once."""
        job = group.head
        index = job.take_next()
        reserved_bytes = job.circuit.estimate.working_bytes
        waited = job.waited(index, group.waited.mark(now_s))
        reservation = self.budget.reserve(reserved_bytes)
        entries, to_load = self.cache.acquire(job.job.circuit, now_s)
        record = PartitionRecord(job, index, reservation, entries, waited)
        if not job.started:
            job.started_s = now_s
        job.live[index] = record
        self.holding += 1
        self.waiting.took(group, now_s)
        record.order = (job.place, index)  # the job's place is what it stays from now on
        self.decisions.append(Admit(record.id, reserved_bytes))
        if to_load:
            self.waiting.entries_changed(self.circuits.loading(to_load), now_s)
            self.decisions += map(Load, to_load)
        if self.cache.loading:
            self._await_loads(record)
        record.advance(Load if record.loads_left else Admit)
        self.stages.take(record, self.decisions, now_s)

    def _await_loads(self, record: PartitionRecord) -> None:
        for cached in record.entries:
            if cached.loading:
                record.loads_left += 1
                self._awaiting.setdefault(cached.entry.key, []).append(record)

    def loaded(self, cached: CachedEntry, size_bytes: int | None, now_s: float) -> bool:
        """Whether more is possible by it: memory came free, or all is there that somebody waits for."""
        reserved_bytes = cached.size_bytes
        self.cache.loaded(cached, reserved_bytes if size_bytes is None else size_bytes, now_s)
        affected = self.circuits.loaded(cached.entry)
        more = bool(affected)
        self.waiting.entries_changed(affected, now_s)
        for record in self._waiters(cached):
            record.loads_left -= 1
            if not record.loads_left:
                record.advance(Loaded)
                self.stages.loaded(record, now_s)
                more = True
        return more or not cached.users or cached.size_bytes < reserved_bytes

    def load_failed(self, cached: CachedEntry, why: str, now_s: float) -> None:
        waiters = self._waiters(cached)
        for record in waiters:
            self.end(record, Failed, now_s)
        self.cache.load_failed(cached)
        self.waiting.entries_changed(self.circuits.load_failed(cached.entry), now_s)
        for job in {record.id.job_id: record.job for record in waiters}.values():
            self.fail(job, f"{cached.entry.key} could not be loaded: {why}", now_s)

    def _waiters(self, cached: CachedEntry) -> list[PartitionRecord]:
        """Those that still wait for the entry; it will not be waited for any more."""
        records = self._awaiting.pop(cached.entry.key)
        return [record for record in records if record.state is LOADING]

    def give_back(self, record: PartitionRecord, now_s: float) -> None:
        """Whatever the partition still holds."""
        self.stages.give_back(record, now_s)
        if record.reservation is not None:
            record.reservation.release()
            record.reservation = None
            self.holding -= 1
            self.cache.release(record.entries, now_s)

    def end(self, record: PartitionRecord, trigger: Trigger, now_s: float) -> PartitionState:
        before = record.state
        state = record.advance(trigger)
        if record.waited.clock is not None:
            self.stages.leave(record, before, now_s)
        if record.reservation is not None:  # else slot and worker are free too
            self.give_back(record, now_s)
        job, index = record.job, record.id.index
        del job.live[index]
        job.ended[index] = state
        job.past[index] = record.waited
        return state

    def come_again(self, record: PartitionRecord, trigger: Trigger, now_s: float) -> None:
        """An attempt has ended, and another is made."""
        job, index = record.job, record.id.index
        record.advance(trigger)
        self.give_back(record, now_s)
        del job.live[index]
        job.past[index] = record.waited
        job.again.append(index)
        self.waiting.put_back(job, index, now_s)

    def fail(self, job: JobRecord, why: str, now_s: float) -> None:
        """Drop what has not started, stop what runs; the first cause of a failure stays."""
        if job.why is None:
            job.why = why
            self.waiting.discard(job, now_s)
            for record in list(job.live.values()):
                if record.state is LOADING or record.state is READY:
                    self.end(record, Cancel, now_s)
                else:
                    self._stop(record, now_s)
        self.close_if_ended(job)

    def _stop(self, record: PartitionRecord, now_s: float) -> None:
        self.stages.leave(record, record.state, now_s)
        record.stop()
        self.decisions.append(Stop(record.id))

    def close_if_ended(self, job: JobRecord) -> None:
        if job.live or (job.why is None and job.verified < job.job.partitions):
            return
        self.decisions.append(Complete(job.job.id) if job.why is None else Fail(job.job.id, job.why))
        self.circuits.leave(job.circuit)
        self.closed[job.job.id] = self.jobs.pop(job.job.id)
