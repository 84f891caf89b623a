"""The old way, kept for comparison: a fixed number of partitions at once, whatever memory they take."""

from policy.budget import Budget
from policy.cache import CachedEntry
from policy.group import Group
from policy.model import Circuit, Limits
from policy.protocol import WaitCause, WantedShare
from policy.scheduler import Scheduler
from policy.wording import count_text
from policy.work import Work

_UNBOUNDED = 1 << 63


class RoomInNumber:
    """Entries once loaded stay; bytes are counted and bind nothing."""

    def __init__(self, work: Work, partitions_at_once: int) -> None:
        self._work = work
        self._partitions_at_once = partitions_at_once
        self.wake_at_s: float | None = None
        self.cause = WaitCause.CONCURRENCY

    def refusal(self, _circuit: Circuit, _working_bytes: int) -> str | None:
        return None

    def most_bytes(self, _now_s: float, _forced: bool) -> int:
        return _UNBOUNDED if self._work.holding < self._partitions_at_once else -1

    def free_bytes(self) -> int:
        return self.most_bytes(0.0, False)

    def unshared_bytes(self, _forced: bool) -> int:
        return self.free_bytes()

    def wanted(self, _least_bytes: int) -> None:
        return None

    def evictions_for(self, _group: Group) -> list[CachedEntry] | None:
        return []

    def resize(self, _budget_bytes: int) -> None:
        return None

    def share(self, _share_bytes: int, _short: bool) -> None:
        return None

    def wanted_share(self, _group: Group, _now_s: float, _forced: bool) -> WantedShare | None:
        return None

    def excess(self) -> list[CachedEntry]:
        return []

    def lack(self, _group: Group, _now_s: float) -> str:
        running = count_text(self._work.holding, "partition")
        return f"{running} of {self._partitions_at_once} at once run"


class FixedConcurrency(Scheduler):
    """At most `partitions_at_once` partitions between admission and proof, even beyond the budget."""

    def __init__(self, limits: Limits, partitions_at_once: int) -> None:
        if partitions_at_once < 1:
            raise ValueError(f"partitions_at_once is {partitions_at_once}, expected at least 1")
        self.name = f"fixed:{partitions_at_once}"
        work = Work(limits, Budget(None))
        super().__init__(limits, work, RoomInNumber(work, partitions_at_once))
