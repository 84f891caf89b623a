"""Admission by bytes: a partition starts when its working set and its missing entries fit the budget."""

from collections.abc import Callable

from policy.budget import Budget
from policy.cache import CachedEntry
from policy.group import Group
from policy.model import Circuit, Limits
from policy.protocol import WaitCause, WantedShare
from policy.refusals import budget_refusal
from policy.scheduler import Scheduler
from policy.wording import bytes_text
from policy.work import Work


class RoomInBytes:
    """Room is what is free, and what idle entries would free: the least recently used first.

    Entries idle for less than the minimum are spared, and so are those that work before it in turn waits for,
    unless nothing else can let work start.
    """

    def __init__(self, work: Work) -> None:
        assert work.budget.limit_bytes is not None
        self._budget, self._cache, self._circuits = work.budget, work.cache, work.circuits
        self._total_bytes = work.budget.limit_bytes
        self._share_bytes: int | None = None  # None: all of it
        self._limit_bytes = self._total_bytes
        self.cause = WaitCause.MEMORY
        self._short = False
        self.wake_at_s: float | None = None
        self._forced = False
        self._now_s = 0.0

    def refusal(self, circuit: Circuit, working_bytes: int) -> str | None:
        return budget_refusal(circuit, working_bytes, self._total_bytes)

    def most_bytes(self, now_s: float, forced: bool) -> int:
        cache = self._cache
        self._forced, self._now_s = forced, now_s
        if cache.next_old_s <= now_s:
            cache.grow_old(now_s)
        return self._budget.free_bytes + (cache.idle_bytes if forced else cache.old_bytes)

    def free_bytes(self) -> int:
        return self._budget.free_bytes

    def unshared_bytes(self, forced: bool) -> int:
        idle_bytes = self._cache.idle_bytes if forced else 0
        return self._total_bytes - self._budget.reserved_bytes + idle_bytes

    def wanted(self, least_bytes: int) -> None:
        cache = self._cache
        if cache.young and least_bytes <= self._budget.free_bytes + cache.idle_bytes:
            self._ask_to_wake(cache.next_old_s)

    def evictions_for(self, group: Group) -> list[CachedEntry] | None:
        lacking_bytes = group.needed_bytes - self._budget.free_bytes
        if lacking_bytes <= 0:
            return []
        evictions = self._plan(group, lacking_bytes, self._forced)
        if not evictions:
            return None
        old_s = evictions[-1].idle_since_s + self._cache.min_idle_s
        if self._forced or old_s <= self._now_s:
            return evictions
        self._ask_to_wake(old_s)
        return None

    def _plan(self, group: Group, lacking_bytes: int, forced: bool) -> list[CachedEntry]:
        return self._cache.plan_eviction(lacking_bytes, self._spared(group, forced))

    def _spared(self, group: Group, forced: bool) -> Callable[[str], bool]:
        """Whether an entry has to stay: the group needs it itself, or, unless forced, work before it does."""
        keys, rank, wanted_before = group.circuit.keys, group.rank, self._circuits.wanted_before
        if forced:
            return lambda key: key in keys
        return lambda key: key in keys or wanted_before(key, rank)

    def _ask_to_wake(self, at_s: float) -> None:
        if self.wake_at_s is None or at_s < self.wake_at_s:
            self.wake_at_s = at_s

    def resize(self, budget_bytes: int) -> None:
        self._total_bytes = budget_bytes
        self._limit_changed()

    def share(self, share_bytes: int, short: bool) -> None:
        self._share_bytes, self._short = share_bytes, short
        self._limit_changed()

    def _limit_changed(self) -> None:
        total_bytes, share_bytes = self._total_bytes, self._share_bytes
        self._limit_bytes = total_bytes if share_bytes is None else min(share_bytes, total_bytes)
        self._budget.resize(self._limit_bytes)
        others_hold_it = self._short and self._limit_bytes < total_bytes
        self.cause = WaitCause.SHARE if others_hold_it else WaitCause.MEMORY

    def wanted_share(self, group: Group, now_s: float, forced: bool) -> WantedShare | None:
        min_idle_s = 0.0 if forced else self._cache.min_idle_s
        evictable_bytes = self._cache.evictable_bytes(min_idle_s, now_s, self._spared(group, forced))
        most_bytes = self._budget.reserved_bytes + group.needed_bytes
        least_bytes = most_bytes - evictable_bytes
        if least_bytes <= self._limit_bytes or least_bytes > self._total_bytes:
            return None
        return WantedShare(least_bytes, min(most_bytes, self._total_bytes))

    def excess(self) -> list[CachedEntry]:
        return self._cache.plan_shrinking(-self._budget.free_bytes)

    def lack(self, group: Group, now_s: float) -> str:
        free_text = bytes_text(max(0, self.free_bytes()))
        if self.cause is WaitCause.SHARE:
            return (
                f"it needs {bytes_text(group.needed_bytes)}, and of this process's share,"
                f" {bytes_text(self._limit_bytes)} of {bytes_text(self._total_bytes)}, {free_text} are free"
            )
        text = (
            f"it needs {bytes_text(group.needed_bytes)}, and of the budget of"
            f" {bytes_text(self._total_bytes)} {free_text} are free"
        )
        evictions = self._plan(group, group.needed_bytes - self._budget.free_bytes, forced=False)
        if not evictions:
            return f"{text} and {bytes_text(self._cache.idle_bytes)} held by idle SRS and PCE"
        wait_s = evictions[-1].idle_since_s + self._cache.min_idle_s - now_s
        return f"{text}; idle SRS and PCE may be evicted for it in {max(0.0, wait_s):.1f} s"


class BudgetPolicy(Scheduler):
    """The policy of the engine: one budget in bytes for SRS, PCE and working sets."""

    name = "budget"

    def __init__(self, limits: Limits) -> None:
        work = Work(limits, Budget(limits.budget_bytes))
        super().__init__(limits, work, RoomInBytes(work))
