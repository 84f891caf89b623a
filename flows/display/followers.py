"""What shows proofs in Prefect's UI, beside the proofs themselves: not in their way, and not far behind."""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from prefect.exceptions import Pause

log = logging.getLogger("cuzk.flows")


class Followers:
    """Coroutines that are waited for at the end of the block, and at most so many before. What one of them
    raises is logged once: proofs are made all the same.
    """

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)
        self._running: set[asyncio.Task[None]] = set()
        self._has_failed = False

    async def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Let it run; waits while too many do."""
        await self._room.acquire()
        task = asyncio.create_task(coroutine)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._room.release()
        error = None if task.cancelled() else task.exception()
        if error is None or isinstance(error, Pause) or self._has_failed:  # no task begins in a suspended run
            return
        self._has_failed = True
        log.warning("not all tasks are shown in Prefect's UI", exc_info=error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._running:
            await asyncio.wait(self._running)
