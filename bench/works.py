"""What a run does: so many proofs, or as many as come by themselves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from bench.asked import Asked
from bench.jobs import Clock
from bench.measured import MeasuredRun
from bench.outcome import Outcome

Prove = Callable[[Asked, int], Awaitable[Outcome]]
Work = Callable[[Prove, MeasuredRun], Awaitable[None]]


def one_after_another(asks: Sequence[Asked], count: int, concurrency: int, stop: bool) -> Work:
    """Work of `count` proofs, `concurrency` at a time; stop: after the first that fails none is begun."""

    async def work(prove: Prove, _run: MeasuredRun) -> None:
        numbers, stopped = iter(range(1, count + 1)), False

        async def worker() -> None:
            nonlocal stopped
            for number in numbers:
                outcome = await prove(asks[(number - 1) % len(asks)], number)
                stopped = stopped or (stop and outcome.state != "succeeded")
                if stopped:
                    return

        await _together([worker() for _ in range(min(concurrency, count))])

    return work


def at_rates(mix: Sequence[tuple[Asked, float]], duration_s: float, most_open: int, seed: int) -> Work:
    """Work that comes by itself: of each circuit so many a second for so long, at times drawn from `seed`.

    The times between two of a circuit are exponential, as of many clients that know nothing of one another.
    What comes while `most_open` are open is left out, and counted.
    """

    async def work(prove: Prove, run: MeasuredRun) -> None:
        drawn, clock, left_out = random.Random(seed), Clock(), 0
        coming = sorted(
            (at_s, which) for which, (_, rate) in enumerate(mix) for at_s in _times(drawn, rate, duration_s)
        )
        begun: set[asyncio.Future[Outcome]] = set()
        try:
            for number, (at_s, which) in enumerate(coming, start=1):
                await asyncio.sleep(max(0.0, at_s - clock()))
                begun = {each for each in begun if not _is_over(each)}
                if len(begun) < most_open:
                    begun.add(asyncio.ensure_future(prove(mix[which][0], number)))
                else:
                    left_out += 1
            for each in begun:
                await each
        finally:
            await _end(begun)
            run.results |= {"arrivals": len(coming), "left_out": left_out}
            if left_out:
                run.say(f"{left_out} of {len(coming)} came while {most_open} were open, and were left out")

    return work


def _is_over(proof: asyncio.Future[Outcome]) -> bool:
    """Raises what it failed with, which is none of a proof's own ends."""
    if proof.done():
        proof.result()
    return proof.done()


def _times(drawn: random.Random, rate: float, duration_s: float) -> Iterator[float]:
    at_s = drawn.expovariate(rate)
    while at_s < duration_s:
        yield at_s
        at_s += drawn.expovariate(rate)


async def _together(works: Sequence[Awaitable[None]]) -> None:
    """All of them; the first error ends the others, and is raised as it is."""
    tasks = {asyncio.ensure_future(each) for each in works}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        failed = [each for each in tasks if each.done() and each.exception() is not None]
        for each in failed:
            each.result()
    finally:
        await _end(tasks)


async def _end(tasks: set[Any]) -> None:
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
