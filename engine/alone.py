"""Work that one process does while others wait for it."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.words import telling


@contextmanager
def alone(lock_path: Path, work: str, report: Callable[[str], None]) -> Iterator[None]:
    """Hold an exclusive lock, which the system takes back however the process ends.

    work: what its holder does, as "making a key", told to `report` where this process has to wait.
    """
    with lock_path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another process is {work}; waiting for it")
            with telling(report, lambda: f"waiting for the process that is {work}"):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
