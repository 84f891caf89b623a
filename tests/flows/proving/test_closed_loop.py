"""So many at a time, and the first error ends all."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.proving.closed_loop import closed_loop


@given(count=st.integers(0, 30), concurrency=st.integers(1, 10))
def test_all_are_done_in_order_and_never_more_at_a_time(count: int, concurrency: int) -> None:
    running, most = 0, 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return number * number

    assert asyncio.run(closed_loop(range(count), concurrency, work)) == [
        number * number for number in range(count)
    ]
    assert most == min(count, concurrency)


def test_the_next_starts_when_one_ends_not_when_all_have() -> None:
    async def steps() -> None:
        started: list[int] = []
        ends = [asyncio.Event() for _ in range(3)]

        async def work(number: int) -> None:
            started.append(number)
            await ends[number].wait()

        loop = asyncio.create_task(closed_loop(range(3), 2, work))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert started == [0, 1]
        ends[1].set()
        await asyncio.sleep(0.01)
        assert started == [0, 1, 2]
        ends[0].set()
        ends[2].set()
        await loop

    asyncio.run(steps())


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError()])
def test_an_error_ends_the_others_before_it_is_raised(error: BaseException) -> None:
    ended: list[int] = []

    async def work(number: int) -> None:
        try:
            await asyncio.sleep(0 if number == 1 else 600)
            raise error
        finally:
            ended.append(number)

    with pytest.raises(type(error)):
        asyncio.run(closed_loop(range(10), 3, work))
    assert sorted(ended) == [0, 1, 2]


def test_cancelling_the_loop_cancels_the_work() -> None:
    async def steps() -> None:
        ended: list[int] = []

        async def work(number: int) -> None:
            try:
                await asyncio.sleep(600)
            finally:
                ended.append(number)

        loop = asyncio.create_task(closed_loop(range(5), 2, work))
        await asyncio.sleep(0.01)
        loop.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loop
        assert sorted(ended) == [0, 1]

    asyncio.run(steps())
