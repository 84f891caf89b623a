"""A closed loop: so many at a time, the next when one has ended."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def closed_loop(
    numbers: Iterable[int], concurrency: int, work: Callable[[int], Awaitable[T]]
) -> list[T]:
    """work(n) for each number, at most `concurrency` of them at a time, and what they return, in order.

    The first error ends the others and is raised once they have ended.
    """
    results: dict[int, T] = {}
    remaining = iter(numbers)

    async def worker() -> None:
        for number in remaining:
            results[number] = await work(number)

    workers = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [results[number] for number in sorted(results)]
