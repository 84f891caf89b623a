"""Beside the proofs: the daemon's state, a line of progress, and what it says when nothing gets on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from bench.errors import BenchError
from bench.jobs import Jobs
from bench.measured import MeasuredRun
from bench.monitor import ProcessSample, by_address
from bench.outcome import Outcome
from config import format_size
from daemon.client import Client
from daemon.errors import DaemonError
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb

STATUS_EVERY_S = 1.0
ANSWER_WITHIN_S = 3.0
MOST_WHY = 12  # lines of an answer; a person reads no more


@dataclass
class Watching:
    """What is known while proofs are made. `status`: the daemon's last, None before and of another program.

    show_progress: called once a second with the line. silence_s: after which the daemon is asked why.
    """

    client: Client
    run: MeasuredRun
    jobs: Jobs
    wanted: int | None
    show_progress: Callable[[str], None]
    silence_s: float
    outcomes: list[Outcome] = field(default_factory=list)
    status: pb.DaemonStatus | None = None
    reserved_bytes: int = 0
    rss_bytes: int = 0
    asked_why: int = 0
    away: bool = False

    async def forever(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._statuses())
            group.create_task(self._progress())
            group.create_task(self._silence())

    def line(self) -> str:
        """How far it is."""
        good = sum(each.state == "succeeded" for each in self.outcomes)
        bad = len(self.outcomes) - good
        now_s = max(self.jobs.now_s(), 1e-9)
        parts = [f"{good} of {self.wanted} proofs" if self.wanted is not None else f"{good} proofs"]
        parts[0] += f", {bad} not" if bad else ""
        parts += [f"{60 * good / now_s:.1f} a minute", f"{len(self.jobs.open)} open"]
        memory = self._memory()
        waiting = "" if self.outcomes else self.jobs.waiting
        return "; ".join(filter(None, [", ".join(parts), memory, waiting]))

    async def why(self) -> list[str]:
        """What the daemon says that it waits for, or that it says nothing."""
        if self.client.version is None:
            return ["the daemon is of another program, and tells no reasons"]
        ids = list(self.jobs.open)
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                answers = await asyncio.gather(*map(self.client.why, ids[:MOST_WHY]))
                if not ids:
                    await self.client.status()  # whether it answers at all
        except TimeoutError:
            return [f"the daemon does not answer within {ANSWER_WITHIN_S:g} s", self._process()]
        except DaemonError as error:
            return [str(error), self._process()]
        lines = [line for answer in answers for line in answer][:MOST_WHY]
        more = [f"… {len(ids)} proofs in all"] if len(ids) > MOST_WHY else []
        return [*lines, *more] or ["it knows of no open proof of this run"]

    def _memory(self) -> str:
        parts = []
        sample = self.run.monitor.last if self.run.monitor is not None else None
        rss_bytes = sample.rss_bytes if sample is not None else self.rss_bytes
        if rss_bytes:
            parts.append(f"RSS {format_size(rss_bytes)}")
        if self.run.budget_bytes:
            parts.append(
                f"{format_size(self.reserved_bytes)} of {format_size(self.run.budget_bytes)} reserved"
            )
        return ", ".join(parts)

    def _process(self) -> str:
        """What is seen of the daemon's process from outside."""
        monitor = self.run.monitor
        if monitor is None:
            return "its process cannot be seen from here"
        if monitor.ended is not None:
            return monitor.ended
        sample = monitor.last
        if sample is None:
            return "its process lives"
        pools = ", ".join(f"{use.threads} {pool}" for pool, use in sample.pools.items())
        return (
            f"its process lives: {sample.threads} threads ({pools}), {sample.cores:.1f} processors busy, "
            f"RSS {format_size(sample.rss_bytes)}"
        )

    async def _statuses(self) -> None:
        while True:
            with suppress(DaemonError):
                await self._follow_status()
            if not self.away:
                self.away = True
                self.run.say("the daemon does not tell its state any more; waiting for it")
            await asyncio.sleep(STATUS_EVERY_S)

    async def _follow_status(self) -> None:
        """Until it ends, or the daemon goes away."""
        if self.client.version is None:
            while True:
                self.reserved_bytes = int((await self.client.public_status()).pinned_memory_bytes)
                await self._is_here()
                await asyncio.sleep(STATUS_EVERY_S)
        async for status in self.client.statuses(STATUS_EVERY_S):
            await self._is_here()
            self.status, self.reserved_bytes = status, int(status.reserved_bytes)
            self.rss_bytes = int(status.rss_bytes)
            if self.run.monitor is None:  # then it is known as the daemon tells it
                at_s = round(self.jobs.now_s(), 3)
                self.run.take(ProcessSample(at_s, self.rss_bytes, 0, None, int(status.threads), 0.0, {}))

    async def _is_here(self) -> None:
        """It answers; after it was away it may be another process, with another log."""
        if not self.away:
            return
        self.away = False
        self.run.say("the daemon is back")
        await self.client.check()
        if self.run.monitor is not None and self.run.monitor.ended is not None:
            try:
                self.run.watch(by_address(self.client.address))
            except BenchError as error:
                self.run.say(str(error))

    async def _progress(self) -> None:
        while True:
            self.show_progress(self.line())
            await asyncio.sleep(1.0)

    async def _silence(self) -> None:
        asked_s = 0.0
        while True:
            await asyncio.sleep(min(1.0, self.silence_s / 4))
            now_s, since_s = self.jobs.now_s(), max(self.jobs.word_s, asked_s)
            if now_s - since_s < self.silence_s or not (self.jobs.open or self.jobs.asking):
                continue
            quiet_s = now_s - self.jobs.word_s
            self.run.say(f"no word for {quiet_s:.0f} s; asking the daemon why")
            for line in await self.why():
                self.run.say(f"  {line}")
            self.asked_why += 1
            asked_s = self.jobs.now_s()
