"""Work that is tried again after a while, where what went wrong may pass by itself."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from engine.ends import wording
from engine.freeing import clear_frames
from engine.passing import io_may_pass
from kernels.parallel import Stopped

T = TypeVar("T")

log = logging.getLogger("cuzk.engine")

BACKOFF_S = (1.0, 4.0, 16.0)
LOOK_EVERY_S = 0.1


async def retried(
    attempt: Callable[[], Awaitable[T]],
    what: str,
    stopped: Callable[[], bool],
    may_pass: Callable[[BaseException], bool] = io_may_pass,
) -> T:
    """What the attempt returns, at once or after BACKOFF_S; a failure that may pass is a warning in the log.

    Raises what the last attempt did, and Stopped where it is to end while it waits.
    """
    for wait_s in BACKOFF_S:
        try:
            return await attempt()
        except Exception as error:
            if not may_pass(error):
                raise
            clear_frames(error)
            log.warning("%s: %s; it is tried again in %g s", what, wording(error), wait_s)
        await _wait(wait_s, stopped)
    return await attempt()


async def _wait(seconds: float, stopped: Callable[[], bool]) -> None:
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0:
        if stopped():
            raise Stopped
        await asyncio.sleep(min(LOOK_EVERY_S, left_s))
