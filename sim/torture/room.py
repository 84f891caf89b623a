"""Whether something could start now, found by trying out on the checker's books."""

from enum import Enum

from sim.torture.books import Books
from sim.torture.expected import Expected
from sim.torture.line import Group, Rank


class Idle(Enum):
    """Which idle entries may make room."""

    OLD = "idle for the minimum and longer"
    ALL = "however young"
    FORCED = "however young, and whoever waits for them"


def lookahead_open(books: Books, queued: int, synthesizing: int, idle_workers: int) -> bool:
    """A slot is free, and what synthesizes next will not pile up before the devices."""
    limits = books.limits
    if synthesizing >= limits.synthesis_slots:
        return False
    return queued < limits.synthesis_lookahead or queued + synthesizing < idle_workers


def bytes_open(books: Books, ahead_bytes: int, ahead_count: int, idle_workers: int) -> bool:
    """Working sets without a device take less than they may, or a worker has none to come."""
    most_bytes = books.limits.lookahead_bytes
    return most_bytes is None or ahead_bytes < most_bytes or ahead_count < idle_workers


def spared(books: Books, expected: Expected, rank: Rank, idle: Idle) -> set[str]:
    """Entries that stay: those that it needs itself, and those that work before it in turn waits for."""
    keys = set(expected.keys)
    if idle is not Idle.FORCED:
        for other in books.line.groups:
            if other.head.rank < rank:
                keys.update(other.expected.keys)
    return keys


def may_gather(books: Books, group: Group) -> bool:
    """Whether it may wait for the rest of its batch, since it would need evictions."""
    if books.stalled or not books.line.may_gather(group, books.now_s):
        return False
    fits = needed_bytes(books, group.expected) <= books.limit_bytes - books.host_bytes
    return not fits and books.missing_bytes(group.expected) > 0


def needed_bytes(books: Books, expected: Expected) -> int:
    return expected.working_bytes + books.missing_bytes(expected)


def in_bytes(books: Books, group: Group, idle: Idle) -> bool:
    """Whether one partition of the group fits, if the idle entries may go that need not stay."""
    free_bytes = books.limit_bytes - books.host_bytes - needed_bytes(books, group.expected)
    if free_bytes >= 0:
        return True
    if free_bytes + books.idle_bytes < 0:
        return False
    stay = spared(books, group.expected, group.head.rank, idle)
    for key, stored in books.idle.items():
        if key not in stay and (idle is not Idle.OLD or books.old_enough(stored)):
            free_bytes += stored.size_bytes
            if free_bytes >= 0:
                return True
    return False


def in_bytes_at_s(books: Books, group: Group) -> float:
    """When it fits by time alone, as idle entries grow old one after another; they must suffice."""
    lacking_bytes = needed_bytes(books, group.expected) + books.host_bytes - books.limit_bytes
    stay = spared(books, group.expected, group.head.rank, Idle.ALL)
    at_s = books.now_s
    for key, stored in books.idle.items():
        if lacking_bytes <= 0:
            break
        if key not in stay:
            at_s = stored.idle_since_s + books.limits.eviction_min_idle_s
            lacking_bytes -= stored.size_bytes
    return at_s


class InNumber:
    """Room of a fixed number of partitions at once, whatever they take."""

    def __init__(self, partitions_at_once: int) -> None:
        self._partitions_at_once = partitions_at_once

    def __call__(self, books: Books, _group: Group, _idle: Idle) -> bool:
        return books.holding < self._partitions_at_once
