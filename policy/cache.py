"""The SRS and PCE in host memory: who uses them, which are idle, and which of those could go."""

from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator

from policy.budget import Budget, Reservation
from policy.model import Circuit, Entry


class CachedEntry:
    """An entry that is loading or in memory. Loading counts as in use; idle is neither loading nor used."""

    __slots__ = ("entry", "idle_since_s", "loading", "reservation", "users")

    def __init__(self, entry: Entry, reservation: Reservation) -> None:
        self.entry = entry
        self.reservation = reservation
        self.loading = True
        self.users = 0
        self.idle_since_s = 0.0


class EntryCache:
    """Entries by key, their bytes reserved in `budget` from the decision to load until the one to evict."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._entries: dict[str, CachedEntry] = {}
        self._idle: OrderedDict[str, CachedEntry] = OrderedDict()  # least recently used first
        self._expected: dict[str, list[int]] = {}  # of unfinished jobs: size and number of them
        self.idle_bytes = 0
        self.loading = 0

    def __iter__(self) -> Iterator[CachedEntry]:
        return iter(self._entries.values())

    def find(self, key: str) -> CachedEntry | None:
        return self._entries.get(key)

    def conflict(self, circuit: Circuit) -> str | None:
        """What is wrong, if a key of the circuit is known here with another size."""
        for entry in circuit.entries:
            cached, expected = self._entries.get(entry.key), self._expected.get(entry.key)
            for size_bytes in (cached and cached.entry.size_bytes, expected and expected[0]):
                if size_bytes is not None and size_bytes != entry.size_bytes:
                    return (
                        f"entry {entry.key} has {entry.size_bytes} bytes here, {size_bytes} bytes elsewhere;"
                        " a file that was replaced must get another key"
                    )
        return None

    def expect(self, circuit: Circuit) -> None:
        """A job of this circuit begins: until it ends the sizes of its entries stand."""
        for entry in circuit.entries:
            self._expected.setdefault(entry.key, [entry.size_bytes, 0])[1] += 1

    def expect_no_longer(self, circuit: Circuit) -> None:
        for entry in circuit.entries:
            expected = self._expected[entry.key]
            expected[1] -= 1
            if not expected[1]:
                del self._expected[entry.key]

    def missing_bytes(self, circuit: Circuit) -> int:
        """Bytes of the circuit's entries that are neither in memory nor being loaded."""
        entries = self._entries
        return sum([entry.size_bytes for entry in circuit.entries if entry.key not in entries])

    def in_memory(self, circuit: Circuit) -> bool:
        """Whether a partition of the circuit would have nothing to wait for."""
        for entry in circuit.entries:
            cached = self._entries.get(entry.key)
            if cached is None or cached.loading:
                return False
        return True

    def acquire(self, circuit: Circuit) -> tuple[list[CachedEntry], list[Entry]]:
        """Use every entry of the circuit: the entries as cached, and those to load for it."""
        to_load = [entry for entry in circuit.entries if entry.key not in self._entries]
        for entry in to_load:
            self._entries[entry.key] = CachedEntry(entry, self._budget.reserve(entry.size_bytes))
        self.loading += len(to_load)
        used = [self._entries[entry.key] for entry in circuit.entries]
        for cached in used:
            if not cached.users and not cached.loading:
                self._no_longer_idle(cached)
            cached.users += 1
        return used, to_load

    def release(self, used: Iterable[CachedEntry], now_s: float) -> None:
        """End one partition's use of the entries."""
        for cached in used:
            cached.users -= 1
            assert cached.users >= 0, f"{cached.entry.key} given back more often than taken"
            if not cached.users and not cached.loading:
                self._now_idle(cached, now_s)

    def loaded(self, cached: CachedEntry, now_s: float) -> None:
        cached.loading = False
        self.loading -= 1
        if not cached.users:
            self._now_idle(cached, now_s)

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

    def plan_eviction(self, lacking_bytes: int, keep: Container[str]) -> list[CachedEntry]:
        """The idle entries, least recently used first, whose end frees `lacking_bytes`; [] if it cannot be.

        None of them is superfluous: without any one of them the rest would not do. The last is the one
        used most recently.
        """
        plan: list[CachedEntry] = []
        surplus_bytes = -lacking_bytes
        for key, cached in self._idle.items():
            if surplus_bytes >= 0:
                break
            if key not in keep:
                plan.append(cached)
                surplus_bytes += cached.entry.size_bytes
        return _without_superfluous(plan, surplus_bytes) if surplus_bytes >= 0 else []

    def long_idle(self, min_idle_s: float, now_s: float) -> tuple[int, float | None]:
        """Bytes idle for `min_idle_s` and longer, and when the next entry will be, if there is one."""
        size_bytes = 0
        for cached in self._idle.values():
            if cached.idle_since_s + min_idle_s > now_s:
                return size_bytes, cached.idle_since_s + min_idle_s
            size_bytes += cached.entry.size_bytes
        return size_bytes, None

    def evictable_bytes(self, min_idle_s: float, now_s: float, keep: Container[str]) -> int:
        """Bytes of the entries that are idle for `min_idle_s` and longer, but for those to keep."""
        return sum(
            cached.entry.size_bytes
            for key, cached in self._idle.items()
            if key not in keep and cached.idle_since_s + min_idle_s <= now_s
        )

    def plan_shrinking(self, excess_bytes: int) -> list[CachedEntry]:
        """As many bytes of the excess as idle entries hold, the least recently used first."""
        return self.plan_eviction(min(excess_bytes, self.idle_bytes), keep=()) if excess_bytes > 0 else []

    def _forget(self, cached: CachedEntry) -> None:
        del self._entries[cached.entry.key]
        cached.reservation.release()

    def _now_idle(self, cached: CachedEntry, now_s: float) -> None:
        cached.idle_since_s = now_s
        self._idle[cached.entry.key] = cached
        self.idle_bytes += cached.entry.size_bytes

    def _no_longer_idle(self, cached: CachedEntry) -> None:
        del self._idle[cached.entry.key]
        self.idle_bytes -= cached.entry.size_bytes


def _without_superfluous(plan: list[CachedEntry], surplus_bytes: int) -> list[CachedEntry]:
    """Spare what need not go, the most recently used first."""
    needed: list[CachedEntry] = []
    for cached in reversed(plan):
        if cached.entry.size_bytes <= surplus_bytes:
            surplus_bytes -= cached.entry.size_bytes
        else:
            needed.append(cached)
    needed.reverse()
    return needed
