"""The line before admission: groups in the order of turn, where the first that fits is found quickly.

Groups stand in blocks of a few dozen. A block knows the least that a hot and a cold group in it need, so that
a search passes a block without looking at its groups (hot: all its entries are in memory).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from policy.circuits import Rank
from policy.model import Priority

if TYPE_CHECKING:
    from policy.group import Group

BLOCK = 64
NEVER = 1 << 100
Place = tuple[float, int, int]


class Block:
    """Groups in the order of turn, and what the least of them need, unless the line knows it as outdated."""

    __slots__ = ("groups", "least_bytes", "least_cold_bytes", "least_hot_bytes", "places")

    def __init__(self, groups: list["Group"], places: list[Place]) -> None:
        self.groups = groups
        self.places = places  # of the groups
        self.look_up()

    def look_up(self) -> None:
        hot_bytes = cold_bytes = NEVER
        for group in self.groups:
            if group.hot:
                if group.needed_bytes < hot_bytes:
                    hot_bytes = group.needed_bytes
            elif group.needed_bytes < cold_bytes:
                cold_bytes = group.needed_bytes
        self.least_hot_bytes, self.least_cold_bytes = hot_bytes, cold_bytes
        self.least_bytes = min(hot_bytes, cold_bytes)

    def needs(self, group: "Group") -> None:
        needed_bytes = group.needed_bytes
        if needed_bytes < self.least_bytes:
            self.least_bytes = needed_bytes
        if group.hot:
            if needed_bytes < self.least_hot_bytes:
                self.least_hot_bytes = needed_bytes
        elif needed_bytes < self.least_cold_bytes:
            self.least_cold_bytes = needed_bytes


# By whether hot and cold groups are in question: what the least of a block need.
_LEAST: dict[tuple[bool, bool], Callable[[Block], int]] = {
    (True, True): attrgetter("least_bytes"),
    (True, False): attrgetter("least_hot_bytes"),
    (False, True): attrgetter("least_cold_bytes"),
    (False, False): lambda _block: NEVER,
}


class Line:
    """All groups that wait, by `Group.place`, which must not change while a group is in the line."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._outdated: set[Block] = set()
        self.least_refused_bytes = NEVER
        self.changes = 0  # of who stands in it, what they need, and who may start

    def __iter__(self) -> Iterator["Group"]:
        for block in self.blocks:
            yield from block.groups

    def insert(self, group: "Group") -> None:
        self.changes += 1
        if not self.blocks:
            group.block = Block([group], [group.place])
            self.blocks.append(group.block)
            return
        at = min(bisect_left(self.blocks, group.place, key=_last_place), len(self.blocks) - 1)
        block = self.blocks[at]
        position = bisect_left(block.places, group.place)
        block.places.insert(position, group.place)
        block.groups.insert(position, group)
        group.block = block
        block.needs(group)
        if len(block.groups) > BLOCK:
            self.blocks.insert(at + 1, self._split(block))

    def _split(self, block: Block) -> Block:
        half = len(block.groups) // 2
        second = Block(block.groups[half:], block.places[half:])
        del block.groups[half:], block.places[half:]
        block.look_up()
        for group in second.groups:
            group.block = second
        return second

    def remove(self, group: "Group") -> None:
        self.changes += 1
        block = group.block
        assert block is not None, f"a group of {group.circuit.circuit.name} is not in the line"
        position = bisect_left(block.places, group.place)
        del block.groups[position], block.places[position]
        self._needs_no_longer(block, group)
        group.block = None
        if not block.groups:
            self.blocks.remove(block)
            self._outdated.discard(block)

    def update(self, group: "Group") -> None:
        """What the group needs has changed, and is taken over."""
        block = group.block
        assert block is not None, f"a group of {group.circuit.circuit.name} is not in the line"
        self.changes += 1
        self._needs_no_longer(block, group)
        group.look_up()
        block.needs(group)

    def _needs_no_longer(self, block: Block, group: "Group") -> None:
        least_bytes = block.least_hot_bytes if group.hot else block.least_cold_bytes
        if group.needed_bytes <= least_bytes:
            self._outdated.add(block)

    def first_place(self, priority: Priority) -> Place | None:
        return next((group.place for group in self if group.priority == priority), None)

    def before(self, rank: Rank) -> list["Group"]:
        """Those that rank before it: a place is never later than the rank, so nobody past its own does."""
        effective_s, sequence = rank
        last_place = (effective_s, 1, sequence)
        found: list[Group] = []
        for block in self.blocks:
            end = bisect_right(block.places, last_place)
            found += [group for group in block.groups[:end] if group.rank < rank]
            if end < len(block.groups):
                break
        return found

    def fitting(self, most_bytes: int, hot: bool, cold: bool, last: Rank | None) -> Iterator["Group"]:
        """Hot or cold groups, or both, that need at most so much, in turn; none that ranks after `last`.

        From then on `least_refused_bytes` is not more than the least that any other of them needs. The line
        must not change until this is through.
        """
        blocks, least = self.blocks, _LEAST[hot, cold]
        if last is not None:
            blocks = blocks[: bisect_right(blocks, (last[0], 1, last[1]), key=_last_place) + 1]
        if self._outdated:
            for block in self._outdated.intersection(blocks):
                block.look_up()
            self._outdated.difference_update(blocks)
        self.least_refused_bytes = min(map(least, blocks), default=NEVER)
        if self.least_refused_bytes > most_bytes:
            return
        for block in blocks:
            if least(block) <= most_bytes:
                for group in block.groups:
                    fits = group.needed_bytes <= most_bytes and (hot if group.hot else cold)
                    if fits and (last is None or group.rank <= last):
                        yield group


def _last_place(block: Block) -> Place:
    return block.places[-1]
