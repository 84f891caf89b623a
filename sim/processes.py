"""Processes that work for this one. They take no interrupt of their own, and end with it, however it ends."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """So many, started anew: a copy of a process with threads may hang.

    Where the block is left by an interrupt, what they work on ends there and then. After an error it goes on
    to its end, since it may be recorded, and nothing new begins.
    """
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(count, context, _end_with_the_parent)
    try:
        yield executor
    except Exception:
        raise
    except BaseException:
        for process in [*(executor._processes or {}).values()]:  # as `kill_workers` of later Pythons does
            process.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def interrupts_left_to_us() -> Iterator[None]:
    """A process started meanwhile never takes an interrupt, not even while it starts: it keeps our mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_the_parent() -> None:
    """It would wait for ever for work of a parent that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "it runs in a process of the pool"

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
