"""What the scheduler remembers of jobs and of the partitions it has admitted."""

from policy.budget import Reservation
from policy.cache import CachedEntry
from policy.circuits import CircuitRecord, Rank
from policy.decisions import Stop
from policy.devices import DeviceWorkers
from policy.errors import ProtocolError
from policy.line import Place
from policy.model import Job, PartitionId
from policy.states import (
    CANCELLED,
    LOADING,
    READY,
    STOPPING,
    SYNTHESIZED,
    SYNTHESIZING,
    TRANSITIONS,
    WAITING,
    PartitionState,
    Trigger,
)
from policy.waits import Mark, Waited

BEFORE_DEVICE = (LOADING, READY, SYNTHESIZING, SYNTHESIZED)


class JobRecord:
    """An unfinished job. Its partitions that wait for admission need no record of their own."""

    __slots__ = (
        "again",
        "circuit",
        "ended",
        "job",
        "joined",
        "left",
        "live",
        "next_index",
        "past",
        "place",
        "rank",
        "rejoined",
        "started",
        "started_s",
        "verified",
        "waits_in_line",
        "why",
    )

    def __init__(self, job: Job, circuit: CircuitRecord, effective_s: float, sequence: int) -> None:
        self.job = job
        self.circuit = circuit
        self.rank: Rank = (effective_s, sequence)
        self.place: Place = (effective_s, 1, sequence)
        self.waits_in_line = False
        self.started = False
        self.started_s = 0.0
        self.next_index = 0  # from this one on they were never admitted
        self.again: list[int] = []  # admitted before, and waiting once more
        self.live: dict[int, PartitionRecord] = {}
        self.ended: dict[int, PartitionState] = {}
        self.verified = 0
        self.why: str | None = None  # why it fails, from the moment it is known
        # What the group had waited when the job, or one of those that wait again, came to it, and left it.
        self.joined: Mark | None = None
        self.rejoined: dict[int, Mark] = {}
        self.left: Mark | None = None
        self.past: dict[int, Waited] = {}  # of partitions that have ended, or come back

    @property
    def waits(self) -> bool:
        """Whether a partition is left to admit."""
        return self.next_index < self.job.partitions or bool(self.again)

    @property
    def needs_device(self) -> bool:
        """Whether a partition is left that no device has yet."""
        return self.waits or any(record.state in BEFORE_DEVICE for record in self.live.values())

    def is_waiting(self, index: int) -> bool:
        if self.why is not None or index in self.ended:
            return False
        return self.next_index <= index < self.job.partitions or index in self.again

    def take_next(self) -> int:
        if self.again:
            return self.again.pop(0)
        self.next_index += 1
        return self.next_index - 1

    def state(self, index: int) -> PartitionState:
        record = self.live.get(index)
        if record is not None:
            return record.state
        if not 0 <= index < self.job.partitions:
            raise KeyError(PartitionId(self.job.id, index))
        waiting = WAITING if self.why is None else CANCELLED
        return self.ended.get(index, waiting)

    def waited(self, index: int, left: Mark) -> Waited:
        """Of a partition that waits in line, or did so until it `left` it."""
        joined = self.rejoined.get(index, self.joined) if self.rejoined else self.joined
        assert joined is not None, f"{PartitionId(self.job.id, index)} has never been in line"
        return Waited(self.past.get(index), joined, self.left or left)


class PartitionRecord:
    """An admitted partition and what it holds."""

    __slots__ = (
        "behind",
        "device",
        "entries",
        "id",
        "job",
        "loads_left",
        "order",
        "overtaken",
        "phase1_bytes",
        "reservation",
        "slot",
        "state",
        "waited",
    )

    behind: PartitionState
    """While stopping: how far its work has come."""
    order: tuple[Place, int]
    """Whose turn it is among those that wait for a slot or a device: whole proofs first."""

    def __init__(
        self,
        job: JobRecord,
        index: int,
        reservation: Reservation,
        entries: list[CachedEntry],
        waited: Waited,
    ) -> None:
        self.id = PartitionId(job.job.id, index)
        self.job = job
        self.state = WAITING
        self.reservation: Reservation | None = reservation
        self.phase1_bytes = job.circuit.estimate.phase1_bytes  # of the reservation
        self.entries = entries
        self.loads_left = 0
        self.slot = False
        self.device: DeviceWorkers | None = None
        self.overtaken = 0
        self.waited = waited

    def advance(self, trigger: Trigger) -> PartitionState:
        """Go to the state that follows; ProtocolError, with nothing changed, if none does."""
        before = self.state
        try:
            state = TRANSITIONS[before][trigger]
            if before is STOPPING:
                self.behind = TRANSITIONS[self.behind][trigger]
        except KeyError:
            raise illegal(trigger, self.id, before) from None
        self.state = state
        return state

    def stop(self) -> None:
        state = self.state
        self.advance(Stop)
        self.behind = state


def illegal(trigger: Trigger, partition: PartitionId, state: PartitionState) -> ProtocolError:
    legal = ", ".join(legal.__name__ for legal in TRANSITIONS[state]) or "nothing"
    return ProtocolError(
        f"{trigger.__name__} of partition {partition} in state {state.value}, expected {legal}"
    )
