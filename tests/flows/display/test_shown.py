"""Which batches are shown proof by proof, and how the others are grouped."""

import asyncio
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prefect.logging import disable_run_logger

from engine import ProofCancelled
from flows.display import each_proof, in_groups
from flows.display.followers import Followers
from flows.display.in_groups import MOST_GROUPS, WORTH_S
from flows.display.pace import Pace
from flows.display.shape import MOST_TASKS, TASKS_A_PARTITION, Shape
from flows.display.shown import shown
from tasks.group import Group, prove_group


def batch(count: int, partitions: int, each: bool = False) -> Shape:
    return Shape("merkle", count, partitions, lambda index: f"merkle #{index + 1}", each)


class Engine:
    """Knows which proofs are forgotten."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    def has_ended(self, proof_id: str) -> bool:  # noqa: ARG002
        return True

    def forget(self, proof_id: str) -> None:
        self.forgotten.append(proof_id)


def test_proofs_in_a_row_are_named_by_the_first_and_the_last() -> None:
    assert [batch(20, 1).name(3, end) for end in (4, 12)] == ["merkle #4", "merkle #4-#12"]
    parts = Shape("merkle", 9, 1, lambda index: f"merkle #{index // 3 + 1}, {index % 3 + 1} of 3")
    assert parts.name(1, 6) == "merkle #1, 2 of 3-#2, 3 of 3"


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is shown: proofs one by one, and groups; without Prefect."""
    names: list[str] = []

    async def show_proof(_proof_id: str, name: str, _partitions: int) -> None:
        names.append(name)

    async def prove_group(group: Group) -> None:
        names.append(group.name)
        await group.wait()

    monkeypatch.setattr(each_proof, "show_proof", show_proof)
    monkeypatch.setattr(in_groups, "prove_group", prove_group)
    return names


def prove(
    shape: Shape, usual_s: float | None, found: range = range(0), at_a_time: int = 3, proof_s: float = 0.1
) -> None:
    """Show a batch of which each proof ends when `at_a_time` of them are under way, after so long each."""

    async def steps() -> None:
        engine, under_way, now_s = Engine(), list[int](), 0.0
        async with Followers(shape.count) as followers:
            display = shown(engine, shape, followers, Pace(usual_s, lambda: now_s))
            for index in found:
                display.found(index)
            for index in range(shape.count):
                if index in found:
                    continue
                await display.submitted(index, f"id {index + 1}", f"merkle #{index + 1}")
                under_way.append(index)
                if len(under_way) == at_a_time or index == shape.count - 1:
                    for ended in under_way:
                        now_s += proof_s
                        display.ended(ended, f"id {ended + 1}", None)
                    under_way.clear()
            display.give_up()
        assert len(engine.forgotten) == len(set(engine.forgotten)) == shape.count - len(found)

    asyncio.run(steps())


def test_short_proofs_are_shown_in_groups_worth_a_task(tasks: list[str]) -> None:
    prove(batch(20, 1), usual_s=WORTH_S / 12, at_a_time=20)
    assert tasks == ["merkle #1-#12", "merkle #13-#20"]


def test_long_proofs_have_tasks_of_their_own(tasks: list[str]) -> None:
    prove(batch(3, 4), usual_s=4 * WORTH_S)
    assert tasks == ["merkle #1", "merkle #2", "merkle #3"]


def test_a_long_proof_of_short_partitions_is_one_task(tasks: list[str]) -> None:
    prove(batch(2, 8), usual_s=2 * WORTH_S, at_a_time=2)
    assert tasks == ["merkle #1", "merkle #2"]


def test_while_nothing_is_known_proofs_have_tasks_of_their_own_and_then_the_batch_tells(
    tasks: list[str],
) -> None:
    prove(batch(40, 1), usual_s=None, proof_s=WORTH_S / 20)
    assert tasks == ["merkle #1", "merkle #2", "merkle #3", "merkle #4-#23", "merkle #24-#40"]


def test_the_batch_s_own_pace_is_what_counts_once_it_is_known(tasks: list[str]) -> None:
    prove(batch(8, 1), usual_s=WORTH_S / 3, at_a_time=3, proof_s=2 * WORTH_S)
    assert tasks == ["merkle #1-#3", *(f"merkle #{number}" for number in range(4, 9))]


def test_proofs_that_were_there_are_in_their_group_and_do_not_keep_it_open(tasks: list[str]) -> None:
    prove(batch(9, 1), usual_s=WORTH_S / 4, found=range(2, 5), at_a_time=20)
    assert tasks == ["merkle #1-#4", "merkle #6-#9"]


def test_each_proof_has_tasks_where_that_is_asked_for(tasks: list[str]) -> None:
    prove(batch(MOST_TASKS, 1, each=True), usual_s=0.01)
    assert len(tasks) == MOST_TASKS


@pytest.mark.parametrize("usual_s", [None, 0.0, 60.0])
@given(count=st.integers(MOST_TASKS // TASKS_A_PARTITION + 1, 5_000))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_a_large_batch_prefect_sees_hundreds_of_tasks(
    tasks: list[str], usual_s: float | None, count: int
) -> None:
    tasks.clear()
    prove(batch(count, 1), usual_s)
    assert len(tasks) <= MOST_GROUPS
    ranges = [[int(each) for each in re.findall("#([0-9]+)", name)] for name in tasks]
    assert [number for each in ranges for number in range(each[0], each[-1] + 1)] == [*range(1, count + 1)]


def test_what_is_given_up_keeps_no_group_open(tasks: list[str]) -> None:
    async def steps() -> None:
        async with Followers(5) as followers:
            display = shown(Engine(), batch(9, 1), followers, Pace(WORTH_S / 3))
            for index in range(4):
                await display.submitted(index, f"id {index}", f"merkle #{index + 1}")
            display.give_up()

    asyncio.run(steps())
    assert tasks == ["merkle #1-#3", "merkle #4-#6"]


def test_a_group_is_open_until_its_last_proof_has_ended_and_knows_its_failures() -> None:
    async def steps() -> None:
        group = Group("merkle #1-#3", 3)
        waiting = asyncio.create_task(group.wait())
        for proof_id, error in (("a", None), ("b", ValueError("merkle #2: no"))):
            group.begin_one(proof_id, proof_id)
            group.end_one(proof_id, error)
            await asyncio.sleep(0)
            assert not waiting.done()
        group.end_one(None, None)
        await waiting
        assert (group.left, group.errors, group.under_way(0.0)) == (0, ["merkle #2: no"], [])

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


@pytest.mark.parametrize(
    ("errors", "state", "said"),
    [
        ([None, None], "COMPLETED", "2 of 2 proved"),
        ([None], "CANCELLED", "1 of 2 proved"),
        ([None, ProofCancelled("merkle #2: cancelled")], "CANCELLED", "1 of 2 proved"),
        ([ValueError("merkle #1: no")], "FAILED", "0 of 2 proved, 1 failed; merkle #1: no"),
    ],
)
def test_a_group_ends_as_its_proofs_have(errors: list[Exception | None], state: str, said: str) -> None:
    """With fewer ends than proofs it is given up."""
    group = Group("merkle #1-#2", 2)
    for error in errors:
        group.end_one(None, error)
    group.give_up()
    with disable_run_logger():
        end = asyncio.run(prove_group.fn(group))
    assert (end.type, end.message) == (state, said)
