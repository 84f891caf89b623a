"""Jobs and partitions from submission to their end, and what they hold meanwhile."""

from policy.budget import Budget
from policy.cache import CachedEntry, EntryCache
from policy.decisions import Admit, Complete, Decision, Evict, Fail, Load, Stop
from policy.errors import ProtocolError
from policy.events import Cancel, Event, Failed, Loaded, LoadFailed
from policy.model import Job, Limits, PartitionId
from policy.records import JobRecord, PartitionRecord, illegal
from policy.stages import Stages
from policy.states import PartitionState, Trigger
from policy.waiting import Group, WaitingRoom


class Work:
    """All unfinished work. Methods append to `decisions` what the driver has to do for them."""

    def __init__(self, limits: Limits, budget: Budget) -> None:
        self.budget = budget
        self.cache = EntryCache(budget)
        self.waiting = WaitingRoom(limits.overtake_limit)
        self.stages = Stages(limits)
        self.jobs: dict[str, JobRecord] = {}
        self.decisions: list[Decision] = []
        self._awaiting: dict[str, list[PartitionRecord]] = {}  # by the key of a loading entry
        self.holding = 0  # partitions with a working set, from admission to proof
        self._sequence = 0

    @property
    def stalled(self) -> bool:
        """Nothing holds memory for work or loads, so no event to come can free any."""
        return not self.holding and not self.cache.loading

    def find(self, event: Event, partition: PartitionId) -> PartitionRecord:
        """The admitted partition that the event speaks of."""
        job = self.jobs.get(partition.job_id)
        if job is None or not 0 <= partition.index < job.job.partitions:
            raise ProtocolError(
                f"{type(event).__name__} of partition {partition}, which no unfinished job has"
            )
        record = job.live.get(partition.index)
        if record is None:
            raise illegal(type(event), partition, job.state(partition.index))
        return record

    def loading_entry(self, event: Loaded | LoadFailed) -> CachedEntry:
        cached = self.cache.find(event.entry_key)
        if cached is None or not cached.loading:
            state = "is not in memory" if cached is None else "is loaded"
            raise ProtocolError(
                f"{type(event).__name__} of entry {event.entry_key}, which {state}, expected one that loads"
            )
        return cached

    def take(self, job: Job, effective_s: float) -> None:
        self._sequence += 1
        record = JobRecord(job, effective_s, self._sequence)
        self.jobs[job.id] = record
        self.cache.expect(job.circuit)
        self.waiting.add(record)

    def look_up(self, group: Group) -> None:
        """What a partition of the group needs, as the cache is now."""
        group.needed_bytes = group.working_bytes + self.cache.missing_bytes(group.circuit)
        group.in_memory = self.cache.in_memory(group.circuit)
        group.outdated = False

    def evict(self, evictions: list[CachedEntry]) -> None:
        for cached in evictions:
            self.cache.evict(cached)
            self.waiting.entry_changed(cached.entry.key)
            self.decisions.append(Evict(cached.entry))

    def admit(self, group: Group) -> None:
        """The next partition of the group's first job gets its working set and all its entries, at once."""
        job, circuit = group.head, group.circuit
        record = PartitionRecord(job, job.next_index, self.budget.reserve(group.working_bytes))
        record.entries, to_load = self.cache.acquire(circuit)
        job.live[job.next_index] = record
        job.next_index += 1
        self.holding += 1
        self.waiting.took(group)
        self.decisions.append(Admit(record.id, group.working_bytes))
        for entry in to_load:
            self.waiting.entry_changed(entry.key)
            self.decisions.append(Load(entry))
        loading = [cached.entry.key for cached in record.entries if cached.loading]
        if loading:
            record.advance(Load)
            record.loads_left = len(loading)
            self.stages.loading += 1
            for key in loading:
                self._awaiting.setdefault(key, []).append(record)
        else:
            record.advance(Admit)
            self.stages.put_ready(record)

    def loaded(self, cached: CachedEntry, now_s: float) -> None:
        self.cache.loaded(cached, now_s)
        self.waiting.entry_changed(cached.entry.key)
        for record in self._waiters(cached):
            record.loads_left -= 1
            if not record.loads_left:
                record.advance(Loaded)
                self.stages.loading -= 1
                self.stages.put_ready(record)

    def load_failed(self, cached: CachedEntry, why: str, now_s: float) -> None:
        waiters = self._waiters(cached)
        for record in waiters:
            self.end(record, Failed, now_s)
        self.cache.load_failed(cached)
        self.waiting.entry_changed(cached.entry.key)
        for job in {record.id.job_id: record.job for record in waiters}.values():
            self.fail(job, f"{cached.entry.key} could not be loaded: {why}", now_s)

    def _waiters(self, cached: CachedEntry) -> list[PartitionRecord]:
        """Those that still wait for the entry; it will not be waited for any more."""
        records = self._awaiting.pop(cached.entry.key)
        return [record for record in records if record.state is PartitionState.LOADING]

    def give_back(self, record: PartitionRecord, now_s: float) -> None:
        """Whatever the partition still holds."""
        self.stages.free_slot(record)
        self.stages.free_worker(record)
        if record.reservation is not None:
            record.reservation.release()
            record.reservation = None
            self.holding -= 1
            self.cache.release(record.entries, now_s)

    def end(self, record: PartitionRecord, trigger: Trigger, now_s: float) -> PartitionState:
        before = record.state
        state = record.advance(trigger)
        if before is PartitionState.LOADING:
            self.stages.loading -= 1
        elif before is PartitionState.READY or before is PartitionState.SYNTHESIZED:
            self.stages.withdraw(record)
        self.give_back(record, now_s)
        del record.job.live[record.id.index]
        record.job.ended[record.id.index] = state
        return state

    def fail(self, job: JobRecord, why: str, now_s: float) -> None:
        """Drop what has not started, stop what runs; the first cause of a failure stays."""
        if job.why is None:
            job.why = why
            self.waiting.discard(job)
            for record in list(job.live.values()):
                if record.state is PartitionState.LOADING or record.state is PartitionState.READY:
                    self.end(record, Cancel, now_s)
                else:
                    self._stop(record)
        self.close_if_ended(job)

    def _stop(self, record: PartitionRecord) -> None:
        if record.state is PartitionState.SYNTHESIZED:
            self.stages.withdraw(record)
        record.advance(Stop)
        self.decisions.append(Stop(record.id))

    def close_if_ended(self, job: JobRecord) -> None:
        if job.live or (job.why is None and job.verified < job.job.partitions):
            return
        self.decisions.append(Complete(job.job.id) if job.why is None else Fail(job.job.id, job.why))
        self.cache.expect_no_longer(job.job.circuit)
        del self.jobs[job.job.id]
