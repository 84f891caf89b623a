"""How a running flow is told to stop, and a second time without delay."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.forced_end import END_WITHIN_S, STOPPING, end_at_the_next_signal, end_unless_closed_soon

WORKER_WAITS_S = 25.0
"""Prefect's worker waits 30 s for a run that is cancelled. Of a large batch a busy server takes ten to take
down how its tasks have ended, which comes before how the run has.
"""


def end_within_s() -> float:
    """How long a flow may take to end that is told to: nobody waits at a terminal for a worker's runs."""
    return WORKER_WAITS_S if "PREFECT__FLOW_RUN_ID" in os.environ else END_WITHIN_S


@contextmanager
def cancelled_by_signals(within_s: float = END_WITHIN_S) -> Iterator[None]:
    """Inside the block, SIGINT and SIGTERM cancel the current asyncio task, so that all it holds is freed.

    After the first of them the next one ends the process at once, also behind the block: whoever sends it
    does not want to wait. Nor does the process wait longer than `within_s` for what never ends. Other
    handlers, Prefect's among them, raise in the middle of the event loop, which would take the loop from the
    engine before it has ended its threads' work and written the history.
    """
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    loop, before = asyncio.get_running_loop(), {number: signal.getsignal(number) for number in STOPPING}
    received = False

    def stop() -> None:
        nonlocal received
        received = True
        if not task.cancelling():  # else it ends already, and another cancel would break that off
            task.cancel()
        end_unless_closed_soon(loop, within_s)
        for number in STOPPING:
            loop.remove_signal_handler(number)
        end_at_the_next_signal()

    for number in STOPPING:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        if not received:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)
