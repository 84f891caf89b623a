"""What a driver may ask of a policy."""

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, Protocol

from policy.capacity import Capacity
from policy.decisions import Decision
from policy.events import Event
from policy.model import Circuit, Limits, PartitionId
from policy.states import PartitionState


class WaitCause(Enum):
    """The one thing a partition waits for."""

    MEMORY = "memory"
    SHARE = "share"  # memory of the budget that other processes hold
    TURN = "turn"  # room enough, but others go first
    LOAD = "load"
    SYNTHESIS_SLOT = "synthesis slot"
    LOOKAHEAD = "lookahead"
    DEVICE = "device"
    DEVICE_MEMORY = "device memory"  # a worker idles, and its device has no room
    BATCH = "batch"  # others of its circuit, before it has other entries evicted
    CONCURRENCY = "concurrency"  # of FixedConcurrency

    # Enum's own hash is a Python function, and waits are counted by cause.
    __hash__ = object.__hash__


class EntryUse(NamedTuple):
    """An entry in host memory or on its way there, and how many partitions use it."""

    key: str
    size_bytes: int
    users: int
    loading: bool


class WantedShare(NamedTuple):
    """`most_bytes` leaves every idle entry where it is, `least_bytes` evicts all that may go."""

    least_bytes: int
    most_bytes: int


class Policy(Protocol):
    """Events in, decisions out. `now_s` is any clock that never goes back; policies read none themselves."""

    @property
    def name(self) -> str:
        """How a run's record calls it: "budget", or "fixed:N"."""

    @property
    def limits(self) -> Limits:
        """As given, the budget as last resized."""

    @property
    def reserved_bytes(self) -> int:
        """Host memory reserved now: entries that are loading or in memory, and every working set."""

    @property
    def peak_reserved_bytes(self) -> int:
        """The most ever reserved at once."""

    @property
    def idle(self) -> bool:
        """No job is unfinished."""

    def handle(self, event: Event, now_s: float) -> list[Decision]:
        """Take one event and say what to do. Raises ProtocolError, with nothing changed, if it cannot be."""

    def wanted_share(self, now_s: float) -> WantedShare | None:
        """With which greater share of the budget a waiting partition would start now; None if with none.

        `Shared` with so much, sent at once, is answered by an admission.
        """

    def entries(self) -> list[EntryUse]:
        """What lies in host memory for work, or is being loaded there."""

    def device_reserved_bytes(self, device: str) -> int:
        """Memory reserved on the device now; 0 for one that works in host memory."""

    def state(self, partition: PartitionId) -> PartitionState:
        """Of a partition of an unfinished job; KeyError for any other."""

    def reserved_bytes_of(self, partition: PartitionId) -> int:
        """Working set reserved for the partition now, its entries not counted; KeyError as `state`."""

    def partitions(self) -> list[PartitionId]:
        """Those admitted and not ended, in the order of admission."""

    def wait_cause(self, partition: PartitionId) -> WaitCause | None:
        """None if it waits for nothing of ours: it runs, or has ended. KeyError as `state`."""

    def waits(self, partition: PartitionId) -> dict[WaitCause, float]:
        """Seconds that the partition has waited so far, by cause; together they are all that it has waited.

        Of a partition of a job that is unfinished or has ended with the last event; KeyError for any other.
        """

    def capacity(self, circuits: Iterable[Circuit]) -> tuple[Capacity, ...]:
        """How many partitions of each of the circuits fit, by what is known of them now."""

    def explain(self, partition: PartitionId) -> str:
        """One sentence, with numbers: what the partition does or waits for. KeyError as `state`."""
