"""The line before admission: groups in the order of turn, where the first that fits is found quickly.

Groups stand in blocks of a few dozen. A block knows the least that a hot and a cold group in it need, so that
a search passes a block without looking at its groups (hot: all its entries are in memory). The line knows the
least of all blocks, so that where nothing fits nothing is searched.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy.circuits import Rank
from policy.model import Priority

if TYPE_CHECKING:
    from policy.group import Group

BLOCK = 64
NEVER = 1 << 100
Place = tuple[float, int, int]


class Block:
    __slots__ = ("groups", "least_cold_bytes", "least_hot_bytes", "outdated", "places")

    def __init__(self, groups: list["Group"], places: list[Place]) -> None:
        self.groups = groups
        self.places = places  # of the groups
        self.outdated = True
        self.least_hot_bytes = self.least_cold_bytes = NEVER

    def look_up(self) -> None:
        hot_bytes = cold_bytes = NEVER
        for group in self.groups:
            if group.hot:
                if group.needed_bytes < hot_bytes:
                    hot_bytes = group.needed_bytes
            elif group.needed_bytes < cold_bytes:
                cold_bytes = group.needed_bytes
        self.least_hot_bytes, self.least_cold_bytes, self.outdated = hot_bytes, cold_bytes, False


class Line:
    """All groups that wait, by `Group.place`, which must not change while a group is in the line."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._last_places: list[Place] = []  # of the blocks
        self.count = 0  # of groups
        self.changes = 0  # of who stands in it, what they need, and who may start
        self._least_hot_bytes = self._least_cold_bytes = NEVER
        self._outdated = False
        # What the blocks up to the one with a rank need at least, hot and cold, as of so many changes.
        self._before: tuple[Rank | None, int, int, int] = (None, 0, NEVER, NEVER)

    def __iter__(self) -> Iterator["Group"]:
        for block in self.blocks:
            yield from block.groups

    def insert(self, group: "Group") -> None:
        self.changes += 1
        self.count += 1
        blocks, lasts, place = self.blocks, self._last_places, group.place
        at = bisect_left(lasts, place)
        if at == len(lasts):  # it is the last of all
            if blocks:
                at -= 1
                lasts[at] = place
            else:
                blocks.append(Block([], []))
                lasts.append(place)
        block = group.block = blocks[at]
        position = bisect_left(block.places, place)
        block.places.insert(position, place)
        block.groups.insert(position, group)
        self._needs(block, group)
        if len(block.groups) > BLOCK:
            self._split(at)

    def _split(self, at: int) -> None:
        block = self.blocks[at]
        half = len(block.groups) // 2
        second = Block(block.groups[half:], block.places[half:])
        del block.groups[half:], block.places[half:]
        block.outdated = True
        for group in second.groups:
            group.block = second
        self.blocks.insert(at + 1, second)
        self._last_places.insert(at, block.places[-1])

    def remove(self, group: "Group") -> None:
        self.changes += 1
        self.count -= 1
        block = group.block
        assert block is not None, f"a group of {group.circuit.circuit.name} is not in the line"
        places, place = block.places, group.place
        position = bisect_left(places, place)
        del block.groups[position], places[position]
        self._needs_no_longer(block, group)
        group.block = None
        if position == len(places):  # it was the last of its block
            at = bisect_left(self._last_places, place)
            if places:
                self._last_places[at] = places[-1]
            else:
                del self.blocks[at], self._last_places[at]

    def update(self, group: "Group") -> None:
        """What the group needs has changed, and is taken over."""
        block = group.block
        assert block is not None, f"a group of {group.circuit.circuit.name} is not in the line"
        self.changes += 1
        self._needs_no_longer(block, group)
        group.look_up()
        self._needs(block, group)

    def _needs(self, block: Block, group: "Group") -> None:
        needed_bytes = group.needed_bytes
        if group.hot:
            if needed_bytes < block.least_hot_bytes:
                block.least_hot_bytes = needed_bytes
                if needed_bytes < self._least_hot_bytes:
                    self._least_hot_bytes = needed_bytes
        elif needed_bytes < block.least_cold_bytes:
            block.least_cold_bytes = needed_bytes
            if needed_bytes < self._least_cold_bytes:
                self._least_cold_bytes = needed_bytes

    def _needs_no_longer(self, block: Block, group: "Group") -> None:
        needed_bytes, hot = group.needed_bytes, group.hot
        if needed_bytes <= (block.least_hot_bytes if hot else block.least_cold_bytes):
            block.outdated = True
            if needed_bytes <= (self._least_hot_bytes if hot else self._least_cold_bytes):
                self._outdated = True

    def least_bytes(self, hot: bool, cold: bool, last: Rank | None) -> int:
        """Hot or cold groups, or both, need so much at least, but for those in blocks beyond `last`."""
        if last is not None:
            before, changes, hot_bytes, cold_bytes = self._before
            if before is not last or changes != self.changes:
                hot_bytes, cold_bytes = self._least(last)
                self._before = (last, self.changes, hot_bytes, cold_bytes)
        else:
            if self._outdated:
                self._least_hot_bytes, self._least_cold_bytes = self._least(None)
                self._outdated = False
            hot_bytes, cold_bytes = self._least_hot_bytes, self._least_cold_bytes
        if not (hot and cold):
            return hot_bytes if hot else cold_bytes if cold else NEVER
        return hot_bytes if hot_bytes < cold_bytes else cold_bytes

    def _least(self, last: Rank | None) -> tuple[int, int]:
        """Of the hot, and of the cold."""
        last_place = None if last is None else (last[0], 1, last[1])
        hot_bytes = cold_bytes = NEVER
        for block in self.blocks:
            if block.outdated:
                block.look_up()
            if block.least_hot_bytes < hot_bytes:
                hot_bytes = block.least_hot_bytes
            if block.least_cold_bytes < cold_bytes:
                cold_bytes = block.least_cold_bytes
            if last_place is not None and block.places[-1] > last_place:
                break
        return hot_bytes, cold_bytes

    def first_place(self, priority: Priority) -> Place | None:
        return next((group.place for group in self if group.priority == priority), None)

    def before(self, rank: Rank) -> Iterator["Group"]:
        """Those that rank before it: a place is never later than the rank, so nobody past its own does."""
        effective_s, sequence = rank
        last_place = (effective_s, 1, sequence)
        for block in self.blocks:
            for group in block.groups:
                if group.place > last_place:
                    return
                if group.rank < rank:
                    yield group

    def fitting(self, most_bytes: int, hot: bool, cold: bool, last: Rank | None) -> Iterator["Group"]:
        """Hot or cold groups, or both, that need at most so much, in turn; none that ranks after `last`."""
        last_place = None if last is None else (last[0], 1, last[1])
        for block in self.blocks:
            if block.outdated:
                block.look_up()
            least_bytes = block.least_hot_bytes if hot else NEVER
            if cold and block.least_cold_bytes < least_bytes:
                least_bytes = block.least_cold_bytes
            if least_bytes <= most_bytes:
                for group in block.groups:
                    fits = group.needed_bytes <= most_bytes and (hot if group.hot else cold)
                    if fits and (last is None or group.rank <= last):
                        yield group
            if last_place is not None and block.places[-1] > last_place:
                break
