"""How many partitions prove at once: as many as the policy starts, and fewer once one ran out of memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kernels.stop_flag import StopFlag


class InFlight:
    """On the event loop's thread only. The limit goes down and never up: memory that was short once is short.

    Whoever waits holds nothing that others need, so those inside always get on.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self.count = 0
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def turn(self, stop: StopFlag) -> AsyncIterator[None]:
        """Inside the block, one is in flight. Waits while there are too many; Stopped once `stop` is set."""
        await self._wait(stop)
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1
            self._wake()

    def lower(self) -> bool:
        """One of those inside has run out of memory: fewer may be from now on; False if it was alone."""
        self.limit = max(1, self.count - 1)
        return self.count > 1

    async def _wait(self, stop: StopFlag) -> None:
        with stop.interrupting(self._wake):
            while self.limit is not None and self.count >= self.limit:
                await self._changed.wait()
                stop.check()

    def _wake(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()
