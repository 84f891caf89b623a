"""Who is admitted next: the first in turn that has room and finds its stage open."""

from typing import NamedTuple

from policy.cache import CachedEntry
from policy.group import Group
from policy.line import NEVER
from policy.room import Room
from policy.work import Work


class Search(NamedTuple):
    """A search in vain for somebody who may start, by what that depends on, and when to search again."""

    line_changes: int
    gathering_changes: int
    idle_changes: int
    most_bytes: int
    hot: bool
    cold: bool
    wake_at_s: float | None


class Admission:
    """Admits whoever can start; afterwards nobody can, but for those whom a line holds back."""

    def __init__(self, work: Work, room: Room, sort_by_type: bool) -> None:
        self._work, self._waiting, self._stages = work, work.waiting, work.stages
        self._line, self._gathering = work.waiting.line, work.waiting.gathering
        self._hot, self._cold = work.waiting.hot, work.waiting.cold
        self._room = room
        self._sort_by_type = sort_by_type
        self._in_vain: Search | None = None  # the last that was
        self.lacks_room = False  # somebody was not admitted who may start, so that free memory helps

    def admit_all(self, now_s: float) -> None:
        """And note what those wait for who are left: who may start and does not has no room."""
        line, gathering, waiting, room = self._line, self._gathering, self._waiting, self._room
        room.wake_at_s, self.lacks_room = None, False
        while line.blocks or gathering.blocks:
            why_not_hot, why_not_cold = self._stages.closed_to()
            hot, cold = why_not_hot is None, why_not_cold is None
            least_bytes = line.least_bytes(hot, cold, waiting.last_rank)
            nobody = least_bytes == NEVER and not (cold and gathering.blocks)
            if nobody or not self._admit_one(now_s, least_bytes, hot, cold):
                if self._hot.cause is not (why_not_hot or room.cause):
                    self._hot.turn(why_not_hot or room.cause, now_s)
                if self._cold.cause is not (why_not_cold or room.cause):
                    self._cold.turn(why_not_cold or room.cause, now_s)
                return
            self.lacks_room = False  # of who was admitted just now it is no longer so

    def _admit_one(self, now_s: float, least_bytes: int, hot: bool, cold: bool) -> bool:
        """Of the hot, which get a slot, or of the cold, which load. Those in the line need `least_bytes`."""
        work, room = self._work, self._room
        self.lacks_room = True
        most_bytes = room.most_bytes(now_s, False)
        if most_bytes < least_bytes and not self._gathering.blocks:  # so a search would find nobody
            room.wanted(least_bytes)
        elif self._in_vain is None or not self._again_in_vain(most_bytes, hot, cold, self._in_vain):
            if self._admit_first(now_s, most_bytes, hot, cold, forced=False):
                return True
            changes = self._line.changes, self._gathering.changes, work.cache.changes
            self._in_vain = Search(*changes, most_bytes, hot, cold, room.wake_at_s)
        if work.holding or work.cache.loading:  # events to come free memory
            return False
        return self._admit_first(now_s, room.most_bytes(now_s, True), hot, cold, forced=True)

    def _again_in_vain(self, most_bytes: int, hot: bool, cold: bool, last: Search) -> bool:
        """Whether what has changed since the last search cannot make its outcome another."""
        if self._line.changes != last.line_changes:
            return False
        if self._work.cache.changes != last.idle_changes or self._gathering.changes != last.gathering_changes:
            return False
        if most_bytes <= last.most_bytes and hot <= last.hot and cold <= last.cold:
            self._room.wake_at_s = last.wake_at_s
            return True
        return False

    def _admit_first(self, now_s: float, most_bytes: int, hot: bool, cold: bool, forced: bool) -> bool:
        work, room = self._work, self._room
        for group in self._waiting.fitting(most_bytes, hot, cold):
            evictions = room.evictions_for(group)
            if evictions is not None:
                if evictions:
                    instead = None if forced else self._instead_of(group, evictions, hot, cold)
                    if instead is not None:
                        group, evictions = instead, []
                    work.evict(evictions, now_s)
                work.admit(group, now_s)
                room.wake_at_s = None
                return True
        if cold and self._gathering.blocks and self._release_one(now_s, forced):
            return self._admit_first(now_s, most_bytes, hot, cold, forced)
        room.wanted(self._line.least_bytes(hot, cold, self._waiting.last_rank))
        return False

    def _instead_of(self, group: Group, evictions: list[CachedEntry], hot: bool, cold: bool) -> Group | None:
        """Work of the same priority that needs no eviction, where an eviction would hit what others need."""
        wanted = self._work.circuits.wanted
        if not self._sort_by_type or not any(wanted(cached.entry.key) for cached in evictions):
            return None
        for other in self._waiting.fitting(self._room.free_bytes(), hot, cold):
            return other if other.priority == group.priority else None
        return None

    def _release_one(self, now_s: float, forced: bool) -> bool:
        """Let a group that gathers into the line: one that fits as it is, or any if nothing else goes on.

        Whether it fits is asked of the whole budget: a greater share is asked for those in the line only.
        """
        waiting, room = self._waiting, self._room
        most_bytes = room.unshared_bytes(forced)
        for group in self._gathering.fitting(most_bytes, False, True, waiting.last_rank):
            if not forced or room.evictions_for(group) is not None or not self._line.blocks:
                waiting.release(group, now_s)
                return True
        return False
