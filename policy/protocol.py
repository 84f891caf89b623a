"""What a driver may ask of a policy."""

from enum import Enum
from typing import NamedTuple, Protocol

from policy.decisions import Decision
from policy.events import Event
from policy.model import Limits, PartitionId
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
    CONCURRENCY = "concurrency"  # of FixedConcurrency


class WantedShare(NamedTuple):
    """`most_bytes` leaves every idle entry where it is, `least_bytes` evicts all that may go."""

    least_bytes: int
    most_bytes: int


class Policy(Protocol):
    """Events in, decisions out. `now_s` is any clock that never goes back; policies read none themselves."""

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

    def explain(self, partition: PartitionId) -> str:
        """One sentence, with numbers: what the partition does or waits for. KeyError as `state`."""
