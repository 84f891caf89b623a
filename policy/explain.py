"""Questions about the present state: who runs, what is held, and what a partition waits for."""

from collections.abc import Iterable

from policy.capacity import Capacity, capacities
from policy.group import Group
from policy.line import NEVER
from policy.model import Circuit, Limits, PartitionId
from policy.protocol import EntryUse, WaitCause, WantedShare
from policy.records import JobRecord, PartitionRecord
from policy.room import Room
from policy.states import LOADING, PROVED, QUOTIENT_DONE, READY, SYNTHESIZED, WAITING, PartitionState
from policy.wording import bytes_text, count_text
from policy.work import Work

_LACKING = {
    WaitCause.MEMORY: "memory",
    WaitCause.SHARE: "memory that other processes hold",
    WaitCause.CONCURRENCY: "concurrency",
}

_DOING = {
    QUOTIENT_DONE: "is proving: its quotient is made, its sums are left",
    PROVED: "is being verified",
}


class Queries:
    """The part of a policy that changes nothing."""

    name: str

    def __init__(self, limits: Limits, work: Work, room: Room) -> None:
        self._limits = limits
        self._work = work
        self._room = room
        self._now_s = float("-inf")

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def reserved_bytes(self) -> int:
        return self._work.budget.reserved_bytes

    @property
    def peak_reserved_bytes(self) -> int:
        return self._work.budget.peak_bytes

    @property
    def idle(self) -> bool:
        return not self._work.jobs

    def wanted_share(self, now_s: float) -> WantedShare | None:
        work = self._work
        why_not_hot, why_not_cold = work.stages.closed_to()
        for group in work.waiting.fitting(NEVER, why_not_hot is None, why_not_cold is None):
            wanted = self._room.wanted_share(group, now_s, work.stalled())
            if wanted is not None:
                return wanted
        return None

    def entries(self) -> list[EntryUse]:
        return [
            EntryUse(cached.entry.key, cached.size_bytes, cached.users, cached.loading)
            for cached in self._work.cache
        ]

    def device_reserved_bytes(self, device: str) -> int:
        return self._work.stages.devices.by_name[device].memory.reserved_bytes

    def state(self, partition: PartitionId) -> PartitionState:
        return self._job(partition).state(partition.index)

    def reserved_bytes_of(self, partition: PartitionId) -> int:
        job = self._job(partition)
        record = job.live.get(partition.index)
        if record is None:
            job.state(partition.index)  # a KeyError where there is no such partition
            return 0
        return 0 if record.reservation is None else record.reservation.size_bytes

    def partitions(self) -> list[PartitionId]:
        return [record.id for job in self._work.jobs.values() for record in job.live.values()]

    def wait_cause(self, partition: PartitionId) -> WaitCause | None:
        job = self._job(partition)
        record = job.live.get(partition.index)
        if record is not None:
            return None if record.waited.clock is None else record.waited.clock.cause
        if job.state(partition.index) is WAITING:
            return job.circuit.groups[job.job.priority].waited.clock.cause
        return None

    def waits(self, partition: PartitionId) -> dict[WaitCause, float]:
        job = self._work.closed.get(partition.job_id) or self._job(partition)
        state, record = job.state(partition.index), job.live.get(partition.index)
        if record is not None:
            return dict(record.waited.read(self._now_s))
        if state is WAITING:
            left = job.circuit.groups[job.job.priority].waited.mark(self._now_s)
            return dict(job.waited(partition.index, left).read(self._now_s))
        if job.left is None or partition.index in job.past:
            return dict(job.past[partition.index].read(self._now_s))
        return dict(job.waited(partition.index, job.left).read(self._now_s))

    def capacity(self, circuits: Iterable[Circuit]) -> tuple[Capacity, ...]:
        known = {circuit.name: self._work.circuits.estimate(circuit) for circuit in circuits}
        left = self._work.stages.devices.left
        return capacities(self._limits, circuits, lambda circuit: known[circuit.name], left)

    def explain(self, partition: PartitionId) -> str:
        return f"{partition} {self._account(partition)}"

    def _job(self, partition: PartitionId) -> JobRecord:
        try:
            return self._work.jobs[partition.job_id]
        except KeyError:
            raise KeyError(partition) from None

    def _account(self, partition: PartitionId) -> str:
        job = self._job(partition)
        state = job.state(partition.index)
        if state is WAITING:
            return f"waits for {self._why_waiting(job)}{self._after_others(job, partition)}"
        if state is LOADING:
            return f"waits for {self._loads_of(job.live[partition.index])} to load"
        if state is READY:
            return f"waits for {self._gate(self.wait_cause(partition))}"
        if state is SYNTHESIZED:
            return f"waits for a device: {self._device_text(job)}"
        return _DOING.get(state, f"is {state.value}")

    def _after_others(self, job: JobRecord, partition: PartitionId) -> str:
        before = 0 if partition.index in job.again else len(job.again) + partition.index - job.next_index
        return f", after {count_text(before, 'partition')} of its job" if before else ""

    def _why_waiting(self, job: JobRecord) -> str:
        """Of the first job of the group, whom the others of the group follow."""
        group, waiting = job.circuit.groups[job.job.priority], self._work.waiting
        cause = group.waited.clock.cause
        if cause is WaitCause.BATCH:
            return self._batch_text(group)
        if cause is not self._room.cause:
            return self._gate(cause)
        holder, what = waiting.holder, _LACKING[self._room.cause]
        if holder is None or group.rank <= holder.rank:
            return f"{what}: {self._room.lack(group, self._now_s)}"
        name, times = holder.head.job.id, count_text(holder.overtaken, "time")
        return f"{what}: {name} was overtaken {times} and goes first; {self._room.lack(holder, self._now_s)}"

    def _gate(self, cause: WaitCause | None) -> str:
        stages, slots = self._work.stages, self._limits.synthesis_slots
        if cause is WaitCause.SYNTHESIS_SLOT:
            return f"a synthesis slot: {stages.synthesizing} of {slots} are taken"
        if cause is WaitCause.TURN:
            return f"its turn: {count_text(slots, 'partition')} before it load or are ready"
        if not stages.bytes_open():
            ahead, most = bytes_text(stages.ahead_bytes), bytes_text(self._limits.lookahead_bytes or 0)
            return f"the devices: working sets of {ahead} wait before it, the lookahead is {most}"
        waiting = count_text(len(stages.synthesized), "synthesized partition")
        return f"the devices: {waiting} before it, none idle"

    def _batch_text(self, group: Group) -> str:
        assert group.gathers_since_s is not None, "only those that gather wait for a batch"
        wait_s = group.gathers_since_s + self._limits.max_batch_wait_s - self._now_s
        return (
            f"its batch: {count_text(len(group.jobs), 'proof')} of {self._limits.max_batch_size} are there,"
            f" and their SRS and PCE ({bytes_text(group.circuit.missing_bytes)}) have no room beside the"
            f" others; they go on in {wait_s:.1f} s at the latest"
        )

    def _loads_of(self, record: PartitionRecord) -> str:
        loading = [cached.entry for cached in record.entries if cached.loading]
        return " and ".join([f"{entry.key} ({bytes_text(entry.size_bytes)})" for entry in loading])

    def _device_text(self, job: JobRecord) -> str:
        devices, circuit = self._work.stages.devices, job.job.circuit
        gone = f"; {' and '.join(devices.lost)} lost" if devices.lost else ""
        if not devices.idle_workers:
            return f"no worker is idle{gone}"
        working_text = bytes_text(job.circuit.estimate.device_bytes)
        if circuit.device_entry is None:
            return f"{working_text} of its memory are not free{gone}"
        entry_text = bytes_text(circuit.device_entry_bytes)
        return f"{entry_text} of its memory for the SRS, and {working_text} beside it, are not free{gone}"
