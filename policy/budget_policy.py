"""Admission by bytes: a partition starts when its working set and its missing entries fit the budget."""

from policy.budget import Budget
from policy.cache import CachedEntry, EntryCache
from policy.model import Circuit, Limits
from policy.protocol import WaitCause, WantedShare
from policy.refusals import budget_refusal
from policy.scheduler import Scheduler
from policy.waiting import Group
from policy.wording import bytes_text
from policy.work import Work


class RoomInBytes:
    """Room is what is free, and what idle entries would free: the least recently used first.

    Entries idle for less than `min_idle_s` are spared, unless nothing else can let work start.
    """

    def __init__(self, budget: Budget, cache: EntryCache, min_idle_s: float) -> None:
        assert budget.limit_bytes is not None
        self._budget = budget
        self._total_bytes = budget.limit_bytes
        self._share_bytes: int | None = None  # None: all of it
        self._cache = cache
        self._min_idle_s = min_idle_s
        self.wake_at_s: float | None = None
        self._next_evictable_s: float | None = None
        self._spared_s = min_idle_s
        self._now_s = 0.0

    def refusal(self, circuit: Circuit) -> str | None:
        return budget_refusal(circuit, self._total_bytes)

    def most_bytes(self, now_s: float, forced: bool) -> int:
        self._spared_s, self._now_s = 0.0 if forced else self._min_idle_s, now_s
        evictable_bytes, self._next_evictable_s = self._cache.long_idle(self._spared_s, now_s)
        return evictable_bytes - self._budget.lacking(0)

    def wanted(self, needed_bytes: int) -> None:
        if (
            self._next_evictable_s is not None
            and self._budget.lacking(needed_bytes) <= self._cache.idle_bytes
        ):
            self._ask_to_wake(self._next_evictable_s)

    def evictions_for(self, group: Group) -> list[CachedEntry] | None:
        lacking_bytes = self._budget.lacking(group.needed_bytes)
        if lacking_bytes <= 0:
            return []
        evictions = self._cache.plan_eviction(lacking_bytes, keep=group.keys)
        if not evictions:
            return None
        evictable_s = evictions[-1].idle_since_s + self._spared_s
        if evictable_s <= self._now_s:
            return evictions
        self._ask_to_wake(evictable_s)
        return None

    def _ask_to_wake(self, at_s: float) -> None:
        if self.wake_at_s is None or at_s < self.wake_at_s:
            self.wake_at_s = at_s

    def resize(self, budget_bytes: int) -> None:
        self._total_bytes = budget_bytes
        self._budget.resize(self._limit_bytes)

    def share(self, share_bytes: int) -> None:
        self._share_bytes = share_bytes
        self._budget.resize(self._limit_bytes)

    @property
    def _limit_bytes(self) -> int:
        return self._total_bytes if self._share_bytes is None else min(self._share_bytes, self._total_bytes)

    def wanted_share(self, group: Group, now_s: float, forced: bool) -> WantedShare | None:
        evictable_bytes = self._cache.evictable_bytes(0.0 if forced else self._min_idle_s, now_s, group.keys)
        most_bytes = self._budget.reserved_bytes + group.needed_bytes
        least_bytes = most_bytes - evictable_bytes
        if least_bytes <= self._limit_bytes or least_bytes > self._total_bytes:
            return None
        return WantedShare(least_bytes, min(most_bytes, self._total_bytes))

    def excess(self) -> list[CachedEntry]:
        return self._cache.plan_shrinking(self._budget.lacking(0))

    def lack(self, group: Group, now_s: float) -> tuple[WaitCause, str] | None:
        lacking_bytes = self._budget.lacking(group.needed_bytes)
        if lacking_bytes <= 0:
            return None
        evictions = self._cache.plan_eviction(lacking_bytes, keep=group.keys)
        free_bytes = max(0, -self._budget.lacking(0))
        if not evictions and self._budget.reserved_bytes + group.needed_bytes <= self._total_bytes:
            return (
                WaitCause.SHARE,
                f"memory that other processes hold: it needs {bytes_text(group.needed_bytes)}, and of this"
                f" process's share, {bytes_text(self._limit_bytes)} of {bytes_text(self._total_bytes)},"
                f" {bytes_text(free_bytes)} are free",
            )
        text = (
            f"memory: it needs {bytes_text(group.needed_bytes)}, and of the budget of"
            f" {bytes_text(self._total_bytes)} {bytes_text(free_bytes)} are free"
        )
        if not evictions:
            return (
                WaitCause.MEMORY,
                f"{text} and {bytes_text(self._cache.idle_bytes)} held by idle SRS and PCE",
            )
        wait_s = evictions[-1].idle_since_s + self._min_idle_s - now_s
        if wait_s <= 0:
            return None
        return WaitCause.MEMORY, f"{text}; idle SRS and PCE may be evicted for it in {wait_s:.1f} s"


class BudgetPolicy(Scheduler):
    """The policy of the engine: one budget in bytes for SRS, PCE and working sets."""

    def __init__(self, limits: Limits) -> None:
        work = Work(limits, Budget(limits.budget_bytes))
        super().__init__(limits, work, RoomInBytes(work.budget, work.cache, limits.eviction_min_idle_s))
