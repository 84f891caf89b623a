"""Threads' names where the system and its tools see them: Python itself tells it none before 3.14."""

import threading
from contextlib import suppress
from pathlib import Path

_LONGEST = 15  # see PR_SET_NAME in prctl(2)


def show_name() -> None:
    """Tell the system the name of the calling thread; nothing happens where it does not take one."""
    thread = threading.current_thread()
    with suppress(OSError):
        Path(f"/proc/self/task/{thread.native_id}/comm").write_text(thread.name[-_LONGEST:])
