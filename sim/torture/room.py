"""Whether something could start now, found by trying out on the checker's books."""

from enum import Enum

from policy import Circuit
from sim.torture.books import Books
from sim.torture.line import Group, Rank


class Idle(Enum):
    """Which idle entries may make room."""

    OLD = "idle for the minimum and longer"
    ALL = "however young"
    FORCED = "however young, and whoever waits for them"


def may_synthesize(books: Books) -> bool:
    return lookahead_open(books, len(books.queue), books.synthesizing, books.idle_workers)


def lookahead_open(books: Books, queued: int, synthesizing: int, idle_workers: int) -> bool:
    """A slot is free, and what synthesizes next will not pile up before the devices."""
    limits = books.limits
    if synthesizing >= limits.synthesis_slots:
        return False
    return queued < limits.synthesis_lookahead or queued + synthesizing < idle_workers


def may_load(books: Books) -> bool:
    return len(books.admitted) < books.limits.synthesis_slots


def bytes_open(books: Books, ahead_bytes: int, ahead_count: int, idle_workers: int) -> bool:
    """Working sets without a device take less than they may, or a worker has none to come."""
    most_bytes = books.limits.lookahead_bytes
    return most_bytes is None or ahead_bytes < most_bytes or ahead_count < idle_workers


def spared(books: Books, circuit: Circuit, rank: Rank, idle: Idle) -> set[str]:
    """Entries that stay: those that it needs itself, and those that work before it in turn waits for."""
    keys = {entry.key for entry in circuit.entries}
    if idle is not Idle.FORCED:
        for other in books.line.groups:
            if other.head.rank < rank:
                keys.update([entry.key for entry in other.circuit.entries])
    return keys


def may_gather(books: Books, group: Group) -> bool:
    """Whether it may wait for the rest of its batch, since it would need evictions."""
    if books.stalled or not books.line.may_gather(group, books.now_s):
        return False
    fits = needed_bytes(books, group.circuit) <= books.limit_bytes - books.host_bytes
    return not fits and books.missing_bytes(group.circuit) > 0


def candidates(books: Books) -> list[Group]:
    """All groups, or those up to the first that was overtaken too often."""
    limit = books.limits.overtake_limit
    groups = books.line.groups
    holders = [group.head.rank for group in groups if group.may_hold >= limit]
    if not holders:
        return groups
    line = min(holders)
    return [group for group in groups if group.head.rank <= line]


def needed_bytes(books: Books, circuit: Circuit) -> int:
    return books.expected(circuit).working_bytes + books.missing_bytes(circuit)


def in_bytes(books: Books, group: Group, idle: Idle) -> bool:
    """Whether one partition of the group fits, if the idle entries may go that need not stay."""
    circuit = group.circuit
    free_bytes = books.limit_bytes - books.host_bytes - needed_bytes(books, circuit)
    if free_bytes >= 0:
        return True
    if free_bytes + books.idle_bytes < 0:
        return False
    stay = spared(books, circuit, group.head.rank, idle)
    for key, stored in books.idle.items():
        if key not in stay and (idle is not Idle.OLD or books.old_enough(stored)):
            free_bytes += stored.size_bytes
            if free_bytes >= 0:
                return True
    return False


def in_bytes_at_s(books: Books, group: Group) -> float:
    """When it fits by time alone, as idle entries grow old one after another; they must suffice."""
    circuit = group.circuit
    lacking_bytes = needed_bytes(books, circuit) + books.host_bytes - books.limit_bytes
    stay = spared(books, circuit, group.head.rank, Idle.ALL)
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
