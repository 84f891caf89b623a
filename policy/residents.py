"""The entries in one device's own memory: who proves with them, and which could go."""

from policy.cache import CachedEntry, EntryCache
from policy.model import Entry


class Residents(EntryCache):
    """As in host memory, but who proves first sends the entry there, so none loads; any idle one may go."""

    def use(self, entry: Entry, now_s: float) -> tuple[CachedEntry, bool]:
        """One more partition proves with the entry; whether it has to be sent for that."""
        cached = self.find(entry.key)
        missing = cached is None
        if cached is None:
            reservation = self._budget.reserve(entry.size_bytes)
            cached = self._entries[entry.key] = CachedEntry(entry, reservation, now_s)
            cached.loading = False
        elif not cached.users:
            self._no_longer_idle(cached)
        cached.users += 1
        return cached, missing

    def lose_all(self) -> None:
        """All are gone with the device, in use or not."""
        for cached in list(self):
            self._forget(cached)
        self.old.clear()
        self.young.clear()
        self.old_bytes = self.idle_bytes = 0
