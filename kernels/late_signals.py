"""Signals that wait until C code has done with Python functions that it calls."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM)
Handler = Callable[[int, FrameType | None], object]


@contextmanager
def handled_afterwards() -> Iterator[None]:
    """Inside the block no signal to stop is handled; the first that comes is, once the block is left.

    C has no exceptions: one that a handler raises in a function that C calls is printed, and lost. Signals
    are handled in the main thread alone, so in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Handler] = {}
    for stopping in STOPPING:
        if callable(handler := signal.getsignal(stopping)):
            before[int(stopping)] = handler
    try:
        for number in before:
            signal.signal(number, lambda number, frame: came.append((number, frame)))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            number, frame = came[0]
            before[number](number, frame)
