"""After a signal to stop, the process ends soon, whatever its threads wait for.

What a process that ends by force leaves is cleared up: memory and locks by the system, its share of the
budget by other processes, its files and its run in the history by the next batch.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from types import FrameType

END_WITHIN_S = 4.0
INTERRUPTED = 130
STOPPING = (signal.SIGINT, signal.SIGTERM)
_WORDS = b"cuzk: interrupted; ended without waiting for what was still under way\n"


def end_soon_after_a_signal() -> None:
    """End the process by force some seconds after the first SIGINT or SIGTERM, and at once after the second.

    A thread of its own learns of signals, since the main one, or one that it waits for, may be in a system
    call that none interrupts, as for a file on a dead network mount. An event loop that handles signals
    itself takes over, with `end_unless_closed_soon`.
    """
    threading.Thread(target=_watch, args=(_pipe_of_signals(),), name="signals", daemon=True).start()


def end_at_the_next_signal() -> None:
    """End the process by force at the next SIGINT or SIGTERM, with a word. In the main thread only."""
    reader = _pipe_of_signals()
    for number in STOPPING:
        signal.signal(number, _leave_to_the_thread)
    threading.Thread(target=_end_when_told, args=(reader,), name="signals", daemon=True).start()


def end_unless_closed_soon(loop: AbstractEventLoop, within_s: float = END_WITHIN_S) -> None:
    """End the process by force if the loop, which is told to stop, is not closed in some seconds."""

    def look() -> None:
        time.sleep(within_s)
        if not loop.is_closed():
            _end()

    threading.Thread(target=look, name="signals", daemon=True).start()


def _pipe_of_signals() -> int:
    """Where each signal is a byte from now on, also while the main thread does not come to handle it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def _leave_to_the_thread(_signal: int, _frame: FrameType | None) -> None:
    """A handler of ours must be there for a signal to reach the pipe."""


def _end_when_told(reader: int) -> None:
    _wait_for_signal(reader, None)
    _end()


def _watch(reader: int) -> None:
    _wait_for_signal(reader, None)
    _wait_for_signal(reader, END_WITHIN_S)
    _end()


def _wait_for_signal(reader: int, at_most_s: float | None) -> None:
    """Return once a signal to stop has come, or after the time given."""
    while select.select([reader], [], [], at_most_s)[0]:
        if os.read(reader, 1)[0] in STOPPING:
            return


def _end() -> NoReturn:
    try:
        os.write(2, _WORDS)
    finally:
        os._exit(INTERRUPTED)
