"""What waits at a batch's run: read once, and kept there for as long as a later run might need it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from flows.spread import courier
from flows.spread.courier import PREFIX, Inbox, Parcel, forward
from flows.spread.earlier import TakenOver, take

PARTITIONS = 2
FIRST_RUN, SECOND_RUN = uuid4(), uuid4()
SHARES = [uuid4(), uuid4()]


@dataclass
class Input:
    key: str
    value: str


@dataclass
class Inputs:
    """The inputs of runs as the server keeps them, by run and key."""

    kept: dict[UUID, dict[str, str]] = field(default_factory=dict)

    async def create_flow_run_input(self, run: UUID, key: str, value: str) -> None:
        assert key not in self.kept.setdefault(run, {})
        self.kept[run][key] = value

    async def filter_flow_run_input(
        self, run: UUID, prefix: str, limit: int, exclude: set[str]
    ) -> list[Input]:
        keys = [key for key in self.kept[run] if key.startswith(prefix) and key not in exclude]
        return [Input(key, self.kept[run][key]) for key in keys[:limit]]

    async def delete_flow_run_input(self, run: UUID, key: str) -> None:
        del self.kept[run][key]


@pytest.fixture
def server() -> Inputs:
    """Has five parcels for the first run: of one share partitions 0, 2 and 4, of the other 1 and 3."""
    numbers = {0: SHARES[0], 1: SHARES[1], 2: SHARES[0], 3: SHARES[1], 4: SHARES[0]}
    parcels = {
        f"{PREFIX}{share}-{number}": Parcel({number: (f"proof {number}", [])}).as_text()
        for number, share in numbers.items()
    }
    return Inputs({FIRST_RUN: parcels, SECOND_RUN: {}})


async def read(inbox: Inbox, share: UUID | None = None) -> list[int]:
    return [number async for parcel in inbox.received(share) for number in parcel.made]


def test_each_parcel_is_read_once_and_stays_until_none_of_it_is_needed(
    server: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier, "MOST_READ", 2)
    inbox: Any = Inbox(server, FIRST_RUN)  # type: ignore[arg-type]  # all that is asked

    async def steps() -> None:
        assert await read(inbox, SHARES[0]) == [0, 2, 4]
        assert await read(inbox, SHARES[0]) == []
        assert await read(inbox) == [1, 3]
        assert len(server.kept[FIRST_RUN]) == 5
        await inbox.delete(lambda number: number >= 2)
        assert sorted(key[-1] for key in server.kept[FIRST_RUN]) == ["2", "3", "4"]
        await inbox.delete(lambda number: number == 4)
        assert sorted(key[-1] for key in server.kept[FIRST_RUN]) == ["4"]

    asyncio.run(steps())


class Assembling:
    """An assembly for which the partition 3 is no proof."""

    def __init__(self) -> None:
        self.parts: dict[int, set[int]] = {}

    def take(self, made: dict[int, Any]) -> Any:
        taken = nothing_taken()
        for number in made:
            if number == 3:
                taken.refused[number] = ValueError("no proof")
                continue
            parts = self.parts.setdefault(number // PARTITIONS, set())
            parts.add(number)
            if len(parts) == PARTITIONS:
                taken.whole.append(number // PARTITIONS)
        return taken


def nothing_taken() -> Any:
    from engine.assembly import Taken

    return Taken()


def test_what_came_for_a_run_is_given_to_the_one_that_takes_it_up(server: Inputs) -> None:
    before = dict(server.kept[FIRST_RUN])

    async def steps() -> TakenOver:
        await forward(server, FIRST_RUN, SECOND_RUN)  # type: ignore[arg-type]  # all that is asked
        inbox = Inbox(server, SECOND_RUN)  # type: ignore[arg-type]  # all that is asked
        return await take(inbox, Assembling(), PARTITIONS, found=set())  # type: ignore[arg-type]  # see above

    taken = asyncio.run(steps())
    assert (server.kept[FIRST_RUN], server.kept[SECOND_RUN]) == ({}, before)
    assert taken == TakenOver(whole={0}, partitions={2, 4})


def test_of_proofs_that_are_there_nothing_is_taken(server: Inputs) -> None:
    inbox = Inbox(server, FIRST_RUN)  # type: ignore[arg-type]  # all that is asked
    taken = asyncio.run(take(inbox, Assembling(), PARTITIONS, found={0, 1}))  # type: ignore[arg-type]
    assert taken == TakenOver(partitions={4})
