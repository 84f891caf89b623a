"""Which batches are shown proof by proof, and how the others are grouped."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.followers import Followers
from flows.shown import MOST_GROUPS, EachProof, InGroups, groups, shown


@given(count=st.integers(1, 1_000_000), most=st.integers(1, 300))
def test_groups_are_few_and_hold_every_proof_once(count: int, most: int) -> None:
    found = groups("merkle", count, most)
    assert len(found) <= most
    assert sum(group.count for group in found) == count
    assert {group.count for group in found[:-1]} <= {found[0].count}
    assert 1 <= found[-1].count <= found[0].count


def test_a_group_is_named_by_its_first_and_its_last() -> None:
    names = [group.name for group in groups("merkle", 401)]
    assert (names[0], names[-1], len(names)) == ("merkle #1–#3", "merkle #400–#401", 134)
    assert [group.name for group in groups("merkle", 2)] == ["merkle #1", "merkle #2"]


class Engine:
    """Knows which proofs are forgotten."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    def forget(self, proof_id: str) -> None:
        self.forgotten.append(proof_id)


@pytest.mark.parametrize(
    ("count", "partitions", "kind"),
    [(3, 10, EachProof), (20, 1, EachProof), (1_000, 8, InGroups), (151, 1, InGroups)],
)
def test_prefect_sees_hundreds_of_tasks_at_most(count: int, partitions: int, kind: type) -> None:
    display = shown(Engine(), "merkle", count, partitions, Followers(1))  # type: ignore[arg-type]  # asked nothing
    assert type(display) is kind
    assert len(groups("merkle", count)) <= MOST_GROUPS


def test_a_group_is_open_until_its_last_proof_has_ended_and_knows_its_failures() -> None:
    async def steps() -> None:
        (group,) = groups("merkle", 3, most=1)
        waiting = asyncio.create_task(group.wait())
        for error in (None, ValueError("merkle #2: no")):
            group.end_one(error)
            await asyncio.sleep(0)
            assert not waiting.done()
        group.end_one(None)
        await waiting
        assert (group.open, group.errors) == (0, ["merkle #2: no"])

    asyncio.run(steps())


def test_followers_are_waited_for_and_bounded_and_their_errors_end_nothing() -> None:
    async def steps() -> None:
        ended, most = [], 0

        async def follow(number: int) -> None:
            nonlocal most
            most = max(most, number - len(ended))
            await asyncio.sleep(0)
            ended.append(number)
            if number == 2:
                raise ValueError("no server")

        async with Followers(2) as followers:
            for number in range(6):
                await followers.start(follow(number))
        assert sorted(ended) == list(range(6))
        assert most <= 2

    asyncio.run(steps())
