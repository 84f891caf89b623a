"""What the scheduler remembers of jobs and of the partitions it has admitted."""

from policy.budget import Reservation
from policy.cache import CachedEntry
from policy.devices import DeviceWorkers
from policy.errors import ProtocolError
from policy.model import Job, PartitionId
from policy.states import TERMINAL, TRANSITIONS, PartitionState, Trigger


class JobRecord:
    """An unfinished job. Partitions from `next_index` on still wait; they need no record of their own."""

    __slots__ = ("ended", "job", "live", "next_index", "place", "rank", "started", "verified", "why")

    def __init__(self, job: Job, effective_s: float, sequence: int) -> None:
        self.job = job
        self.rank = (effective_s, sequence)
        self.place = (effective_s, 1, sequence)
        self.started = False
        self.next_index = 0
        self.live: dict[int, PartitionRecord] = {}
        self.ended: dict[int, PartitionState] = {}
        self.verified = 0
        self.why: str | None = None  # why it fails, from the moment it is known

    def waits(self, index: int) -> bool:
        return self.why is None and self.next_index <= index < self.job.partitions

    def state(self, index: int) -> PartitionState:
        if not 0 <= index < self.job.partitions:
            raise KeyError(PartitionId(self.job.id, index))
        if index in self.live:
            return self.live[index].state
        waiting = PartitionState.WAITING if self.why is None else PartitionState.CANCELLED
        return self.ended.get(index, waiting)


class PartitionRecord:
    """An admitted partition and what it holds."""

    __slots__ = (
        "behind",
        "device",
        "entries",
        "id",
        "job",
        "loads_left",
        "overtaken",
        "reservation",
        "slot",
        "state",
    )

    def __init__(self, job: JobRecord, index: int, reservation: Reservation) -> None:
        self.id = PartitionId(job.job.id, index)
        self.job = job
        self.state = PartitionState.WAITING
        self.behind = PartitionState.WAITING  # while stopping: how far its work has come
        self.reservation: Reservation | None = reservation
        self.entries: list[CachedEntry] = []
        self.loads_left = 0
        self.slot = False
        self.device: DeviceWorkers | None = None
        self.overtaken = 0

    def advance(self, trigger: Trigger) -> PartitionState:
        """Go to the state that follows; ProtocolError, with nothing changed, if none does."""
        try:
            state = TRANSITIONS[self.state][trigger]
            behind = (
                TRANSITIONS[self.behind][trigger] if self.state is PartitionState.STOPPING else self.state
            )
        except KeyError:
            raise illegal(trigger, self.id, self.state) from None
        self.state = state
        self.behind = behind
        return state

    @property
    def order(self) -> tuple[tuple[float, int, int], int]:
        """Whose turn it is among those that wait for a slot or a device: whole proofs first."""
        return (self.job.place, self.id.index)

    @property
    def ended(self) -> bool:
        return self.state in TERMINAL


def illegal(trigger: Trigger, partition: PartitionId, state: PartitionState) -> ProtocolError:
    legal = ", ".join(legal.__name__ for legal in TRANSITIONS[state]) or "nothing"
    return ProtocolError(
        f"{trigger.__name__} of partition {partition} in state {state.value}, expected {legal}"
    )
