"""How a running flow is told to stop."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cancelled_by_sigterm() -> Iterator[None]:
    """Inside the block, SIGTERM cancels the current asyncio task, as Ctrl-C does under asyncio.run.

    Prefect's own handler raises in the middle of the event loop, which would take the loop from the engine
    before the engine has ended its threads' work and written the history.
    """
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)
