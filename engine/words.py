"""A word now and then from a thread of its own, so that work of any kind is never silent for long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WORD_EVERY_S = 5.0


@contextmanager
def telling(
    report: Callable[[str], None], word: Callable[[], str], every_s: float = WORD_EVERY_S
) -> Iterator[None]:
    """Inside the block, report every few seconds what `word` says then, and for how long it has lasted.

    Both are called from another thread, which has ended when the block is left.
    """
    done, started_s = threading.Event(), time.monotonic()

    def speak() -> None:
        while not done.wait(every_s):
            report(f"{word()}, {time.monotonic() - started_s:.0f} s so far")

    speaker = threading.Thread(target=speak, name="words", daemon=True)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join()
