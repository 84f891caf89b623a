"""The SRS and PCE in host memory: who uses them, which are idle, and which of those could go."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import inf
from operator import attrgetter

from policy.budget import Budget, Reservation
from policy.model import Circuit, Entry


class CachedEntry:
    """An entry that is loading or in memory. Loading counts as in use; idle is neither loading nor used.

    `size_bytes` are reserved for it: at first what the entry says, once it is loaded what it takes.
    """

    __slots__ = (
        "_asked_s",
        "entry",
        "idle_since_s",
        "loading",
        "reload_cost",
        "reservation",
        "size_bytes",
        "users",
    )

    def __init__(self, entry: Entry, reservation: Reservation, now_s: float) -> None:
        self.entry = entry
        self.reservation = reservation
        self.loading = True
        self.users = 0
        self.size_bytes = entry.size_bytes
        self.idle_since_s = 0.0
        self._asked_s = now_s
        self.reload_cost = 0.0  # seconds for each byte that its end would free

    def loaded(self, size_bytes: int, now_s: float) -> None:
        """It takes so many bytes: the rest of the reservation is given back."""
        if size_bytes < self.size_bytes:
            self.reservation.release_part(self.size_bytes - size_bytes)
            self.size_bytes = size_bytes
        self.loading = False
        self.reload_cost = (now_s - self._asked_s) / max(1, size_bytes)


class EntryCache:
    """Entries by key, their bytes reserved in `budget` from the decision to load until the one to evict.

    Idle ones are old once they have been so for `min_idle_s`, else young. Both are kept least recently used
    first; of those that became idle at the same time, the one that is cheapest to load again first.
    """

    def __init__(self, budget: Budget, min_idle_s: float = 0.0) -> None:
        self._budget = budget
        self.min_idle_s = min_idle_s
        self._entries: dict[str, CachedEntry] = {}
        self.old: OrderedDict[str, CachedEntry] = OrderedDict()
        self.young: OrderedDict[str, CachedEntry] = OrderedDict()
        self.old_bytes = 0
        self.idle_bytes = 0  # old and young
        self.loading = 0
        self.find = self._entries.get
        self.next_old_s = inf  # when the next entry will be old by time alone
        self.changes = 0  # of what is idle

    def __iter__(self) -> Iterator[CachedEntry]:
        return iter(self._entries.values())

    def acquire(self, circuit: Circuit, now_s: float) -> tuple[list[CachedEntry], list[Entry]]:
        """Use every entry of the circuit: the entries as cached, and those to load for it."""
        used: list[CachedEntry] = []
        to_load: list[Entry] = []
        for entry in circuit.entries:
            cached = self.find(entry.key)
            if cached is None:
                cached = self._begin_load(entry, now_s)
                to_load.append(entry)
            elif not cached.users and not cached.loading:
                self._no_longer_idle(cached)
            cached.users += 1
            used.append(cached)
        return used, to_load

    def _begin_load(self, entry: Entry, now_s: float) -> CachedEntry:
        reservation = self._budget.reserve(entry.size_bytes)
        cached = self._entries[entry.key] = CachedEntry(entry, reservation, now_s)
        self.loading += 1
        return cached

    def release(self, used: Iterable[CachedEntry], now_s: float) -> None:
        """End one partition's use of the entries."""
        idle: list[CachedEntry] = []
        for cached in used:
            users = cached.users = cached.users - 1
            assert users >= 0, f"{cached.entry.key} given back more often than taken"
            if not users and not cached.loading:
                idle.append(cached)
        if idle:
            self._now_idle(idle, now_s)

    def loaded(self, cached: CachedEntry, size_bytes: int, now_s: float) -> None:
        cached.loaded(size_bytes, now_s)
        self.loading -= 1
        if not cached.users:
            self._now_idle([cached], now_s)

    def load_failed(self, cached: CachedEntry) -> None:
        """Forget the entry; those who use it must have given it back."""
        assert cached.loading, f"{cached.entry.key} failed to load after it was loaded"
        assert not cached.users, f"{cached.entry.key} is still used"
        self.loading -= 1
        self._forget(cached)

    def evict(self, cached: CachedEntry) -> None:
        assert not cached.users, f"evicting {cached.entry.key}, which is in use"
        assert not cached.loading, f"evicting {cached.entry.key}, which is loading"
        self._no_longer_idle(cached)
        self._forget(cached)

    def grow_old(self, now_s: float) -> None:
        """Young entries that have idled for long enough become old ones."""
        while self.young:
            key, cached = next(iter(self.young.items()))
            if cached.idle_since_s + self.min_idle_s > now_s:
                break
            self.changes += 1
            del self.young[key]
            self.old[key] = cached
            self.old_bytes += cached.size_bytes
        self._find_next_old()

    def _find_next_old(self) -> None:
        first = next(iter(self.young.values()), None)
        self.next_old_s = inf if first is None else first.idle_since_s + self.min_idle_s

    def evictable_bytes(self, min_idle_s: float, now_s: float, spare: Callable[[str], bool]) -> int:
        """Bytes of entries that have idled for `min_idle_s` and longer, but for those that have to stay."""
        return sum(
            cached.size_bytes
            for key, cached in chain(self.old.items(), self.young.items())
            if cached.idle_since_s + min_idle_s <= now_s and not spare(key)
        )

    def plan_eviction(
        self, lacking_bytes: int, spare: Callable[[str], bool] = lambda _key: False
    ) -> list[CachedEntry]:
        """The idle entries, least recently used first, whose end frees `lacking_bytes`; [] if it cannot be.

        None of them is superfluous: without any one of them the rest would not do. The last is the one
        used most recently. `spare` says of a key that its entry has to stay.
        """
        plan: list[CachedEntry] = []
        surplus_bytes = -lacking_bytes
        for key, cached in chain(self.old.items(), self.young.items()):
            if surplus_bytes >= 0:
                break
            if not spare(key):
                plan.append(cached)
                surplus_bytes += cached.size_bytes
        return _without_superfluous(plan, surplus_bytes) if surplus_bytes >= 0 else []

    def plan_shrinking(self, excess_bytes: int) -> list[CachedEntry]:
        """As many bytes of the excess as idle entries hold, the least recently used first."""
        return self.plan_eviction(min(excess_bytes, self.idle_bytes)) if excess_bytes > 0 else []

    def _forget(self, cached: CachedEntry) -> None:
        del self._entries[cached.entry.key]
        cached.reservation.release()

    def _now_idle(self, entries: list[CachedEntry], now_s: float) -> None:
        self.changes += 1
        for cached in entries:
            cached.idle_since_s = now_s
            self.idle_bytes += cached.size_bytes
        while self.young and next(reversed(self.young.values())).idle_since_s == now_s:
            entries.insert(0, self.young.popitem()[1])
        if len(entries) > 1:
            entries.sort(key=attrgetter("reload_cost"))
        for cached in entries:
            self.young[cached.entry.key] = cached
        if self.next_old_s == inf:
            self.next_old_s = now_s + self.min_idle_s

    def _no_longer_idle(self, cached: CachedEntry) -> None:
        self.changes += 1
        key, size_bytes = cached.entry.key, cached.size_bytes
        if self.young.pop(key, None) is not None:
            if cached.idle_since_s + self.min_idle_s <= self.next_old_s:
                self._find_next_old()
        else:
            del self.old[key]
            self.old_bytes -= size_bytes
        self.idle_bytes -= size_bytes


def _without_superfluous(plan: list[CachedEntry], surplus_bytes: int) -> list[CachedEntry]:
    """Spare what need not go, the most recently used first."""
    needed: list[CachedEntry] = []
    for cached in reversed(plan):
        if cached.size_bytes <= surplus_bytes:
            surplus_bytes -= cached.size_bytes
        else:
            needed.append(cached)
    needed.reverse()
    return needed
