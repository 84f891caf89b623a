"""Questions about the present state: who runs, what is held, and what a partition waits for."""

from policy.model import Limits, PartitionId
from policy.protocol import WaitCause, WantedShare
from policy.records import JobRecord, PartitionRecord
from policy.room import Room
from policy.states import PartitionState
from policy.wording import bytes_text, count_text
from policy.work import Work


class Queries:
    """The part of a policy that changes nothing."""

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
        stages, stalled = self._work.stages, self._work.stalled
        may_synthesize, may_load = stages.may_synthesize(), stages.may_load()
        for group in self._work.waiting.candidates():
            self._work.look_up(group)
            if may_synthesize if group.in_memory else may_load:
                wanted = self._room.wanted_share(group, now_s, stalled)
                if wanted is not None:
                    return wanted
        return None

    def device_reserved_bytes(self, device: str) -> int:
        return self._work.stages.devices[device].memory.reserved_bytes

    def state(self, partition: PartitionId) -> PartitionState:
        return self._job(partition).state(partition.index)

    def reserved_bytes_of(self, partition: PartitionId) -> int:
        self.state(partition)
        record = self._job(partition).live.get(partition.index)
        return record.reservation.size_bytes if record and record.reservation else 0

    def partitions(self) -> list[PartitionId]:
        return [record.id for job in self._work.jobs.values() for record in job.live.values()]

    def wait_cause(self, partition: PartitionId) -> WaitCause | None:
        return self._account(partition)[0]

    def explain(self, partition: PartitionId) -> str:
        return f"{partition} {self._account(partition)[1]}"

    def _job(self, partition: PartitionId) -> JobRecord:
        try:
            return self._work.jobs[partition.job_id]
        except KeyError:
            raise KeyError(partition) from None

    def _account(self, partition: PartitionId) -> tuple[WaitCause | None, str]:
        job, state = self._job(partition), self.state(partition)
        if state is PartitionState.WAITING:
            cause, text = self._why_waiting(job)
            before = partition.index - job.next_index
            turn = f", after {count_text(before, 'partition')} of its job" if before else ""
            return cause, f"waits for {text}{turn}"
        if state is PartitionState.LOADING:
            return WaitCause.LOAD, f"waits for {self._loads_of(job.live[partition.index])} to load"
        if state is PartitionState.READY:
            cause, text = self._why_not_synthesizing()
            return cause, f"waits for {text}"
        if state is PartitionState.SYNTHESIZED:
            return WaitCause.DEVICE, f"waits for a device: {self._device_text(job)}"
        return None, f"is {state.value}"

    def _why_waiting(self, job: JobRecord) -> tuple[WaitCause, str]:
        """Of the first job of the group, whom the others of the group follow."""
        group = self._work.waiting.group_of(job)
        self._work.look_up(group)
        lack = self._room.lack(group, self._now_s)
        if lack is not None:
            return lack
        if group not in self._work.waiting.candidates():
            return WaitCause.TURN, "its turn: a job that was overtaken too often goes first"
        if group.in_memory:
            return self._why_not_synthesizing()
        slots = self._limits.synthesis_slots
        return WaitCause.TURN, f"its turn: {count_text(slots, 'partition')} before it load or are ready"

    def _why_not_synthesizing(self) -> tuple[WaitCause, str]:
        stages, slots = self._work.stages, self._limits.synthesis_slots
        if stages.synthesizing >= slots:
            return WaitCause.SYNTHESIS_SLOT, f"a synthesis slot: {stages.synthesizing} of {slots} are taken"
        if not stages.lookahead_open():
            waiting = count_text(len(stages.synthesized), "synthesized partition")
            return WaitCause.LOOKAHEAD, f"the devices: {waiting} before it, none idle"
        return WaitCause.TURN, "its turn"

    def _loads_of(self, record: PartitionRecord) -> str:
        loading = [cached.entry for cached in record.entries if cached.loading]
        return " and ".join([f"{entry.key} ({bytes_text(entry.size_bytes)})" for entry in loading])

    def _device_text(self, job: JobRecord) -> str:
        idle = self._work.stages.devices.idle_workers
        if not idle:
            return "no worker is idle"
        return f"{bytes_text(job.job.circuit.device_bytes)} of its memory are not free"
