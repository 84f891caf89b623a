"""The one question that the policies answer differently: is there room for another partition?"""

from typing import Protocol

from policy.cache import CachedEntry
from policy.group import Group
from policy.model import Circuit
from policy.protocol import WaitCause, WantedShare


class Room(Protocol):
    wake_at_s: float | None
    """When room comes to be by time alone, as far as the last questions showed; None if it does not."""
    cause: WaitCause
    """What those wait for who have no room."""

    def refusal(self, circuit: Circuit, working_bytes: int, /) -> str | None:
        """Why a partition of the circuit that takes `working_bytes` can never have room, if so."""

    def most_bytes(self, now_s: float, forced: bool, /) -> int:
        """Nothing that needs more bytes than this has room now. Asked before `evictions_for`.

        `forced`: nothing runs or loads, so nothing but room made now can let work start.
        """

    def free_bytes(self) -> int:
        """As `most_bytes`, with no entry evicted."""

    def unshared_bytes(self, forced: bool, /) -> int:
        """As `free_bytes`, or `forced` as `most_bytes`, were all of the budget this process's."""

    def wanted(self, least_bytes: int, /) -> None:
        """Nothing had room, and so much is the least needed: a reason to wake, if time alone makes it."""

    def evictions_for(self, group: Group, /) -> list[CachedEntry] | None:
        """The entries to evict so that one partition of the group has room; None if it has none now."""

    def resize(self, budget_bytes: int, /) -> None:
        """The budget is another now."""

    def share(self, share_bytes: int, short: bool, /) -> None:
        """Of the budget this process may use so much now; `short`: others hold what it lacks."""

    def wanted_share(self, group: Group, now_s: float, forced: bool, /) -> WantedShare | None:
        """With which greater share one partition of the group would have room; None if with none."""

    def excess(self) -> list[CachedEntry]:
        """What has to be evicted since budget or share was lowered below what is reserved."""

    def lack(self, group: Group, now_s: float, /) -> str:
        """What a partition of the group has too little of, with numbers, for people."""
