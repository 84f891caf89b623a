"""Proofs shown several at a time.

A task costs 20 ms of processor time, two thirds of it the server's. Five for each partition are little beside
one that takes a minute, and more than half of one that takes 0.2 s.
"""

import asyncio
from math import ceil

from flows.display.each_proof import EachProof
from flows.display.followers import Followers
from flows.display.pace import Pace
from flows.display.proof import partition_keys
from flows.display.shape import Owner, Shape
from tasks.admit import admit
from tasks.group import Group, prove_group
from tasks.key import Key
from tasks.source import source

WORTH_S = 2.0  # what a task should show at least, and a partition take to have tasks of its own
MOST_GROUPS = 200


class InGroups:
    """A task for proofs in a row that take WORTH_S together, from the first's submission to the last's end.

    Of a small batch, proofs that take long enough have tasks of their own, and so have the first ones while
    it is not known how long they take. pace: None where proofs take no time.
    """

    def __init__(
        self, owner: Owner, shape: Shape, followers: Followers, alone: EachProof, pace: Pace | None
    ) -> None:
        self._owner, self._shape, self._followers = owner, shape, followers
        self._alone, self._pace = alone, pace
        self._found: set[int] = set()
        self._newest: Group | None = None
        self._end = 0  # the index after its last proof
        self._groups: dict[int, Group] = {}  # by the index of each proof under way that is in one
        self._asked: set[str] = set()  # ids of proofs whose wait a bar shows, besides their group's

    def found(self, index: int) -> None:
        self._found.add(index)

    async def submitted(self, index: int, proof_id: str, name: str) -> None:
        if self._pace is not None:
            self._pace.submitted()
        is_first = index >= self._end
        if is_first:
            self._newest = self._next(index)
        group = self._newest
        if group is None:
            await self._alone.submitted(index, proof_id, name)
            return
        self._groups[index] = group
        group.begin_one(proof_id, name)
        if is_first:
            await self._followers.start(self._show(group))

    def ended(self, index: int, proof_id: str, error: Exception | None) -> None:
        if self._pace is not None:
            self._pace.ended()
        group = self._groups.pop(index, None)
        if group is None:
            self._alone.ended(index, proof_id, error)
            return
        group.end_one(proof_id, error)
        self._leave(proof_id)

    def give_up(self) -> None:
        for group in {self._newest, *self._groups.values()}:
            if group is not None:
                group.give_up()

    def _size(self) -> int | None:
        """Of the next group; None where the next proof is to have tasks of its own."""
        shape, proof_s = self._shape, None if self._pace is None else self._pace.proof_s
        if shape.is_small and (proof_s is None or proof_s >= WORTH_S * shape.partitions):
            return None
        worth = ceil(WORTH_S / proof_s) if proof_s else 1
        return max(worth, ceil(shape.count / MOST_GROUPS))

    def _next(self, first: int) -> Group | None:
        """The group that begins with the proof; None where that is to have tasks of its own."""
        size = self._size()
        if size is None:
            return None
        self._end = min(first + size, self._shape.count)
        group = Group(self._shape.name(first, self._end), self._end - first)
        for _ in self._found.intersection(range(first, self._end)):
            group.end_one(None, None)
        return group

    async def _show(self, group: Group) -> None:
        wait = asyncio.create_task(self._show_wait(group))
        await prove_group(group)
        await wait

    async def _show_wait(self, group: Group) -> None:
        """The first of the group that waits long for memory, as a bar of its own, its causes in the log."""
        while not await group.ends_within(WORTH_S):
            if key := self._waiting(group):
                self._asked.add(key.proof_id)
                try:
                    await admit(key)
                finally:
                    self._leave(key.proof_id)
                return

    def _leave(self, proof_id: str) -> None:
        """The last that asks for the proof needs it no more."""
        if proof_id in self._asked:
            self._asked.remove(proof_id)
        else:
            self._owner.forget(proof_id)

    def _waiting(self, group: Group) -> Key | None:
        for proof_id, name in group.under_way(WORTH_S):
            for key in partition_keys(proof_id, name, self._shape.partitions):
                if not source.get().has_started(proof_id, "load", key.partition):
                    return key
        return None
