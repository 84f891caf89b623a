"""Files in the making: beside the file whose place they are to take, and locked while their writer lives.

The system takes the lock back however a process ends: what is not locked was left by one that was killed.
"""

from __future__ import annotations

import fcntl
import glob
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


def create(target: Path) -> BinaryIO:
    """A new file, at `name`, that is to be renamed to `target` before it is closed. Raises OSError."""
    while True:
        file = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp").open("xb")
        with suppress(OSError):  # a file system without locks, on which nobody removes what is left either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # it was taken for left before it was locked


def remove_leftovers(folder: Path, target_name: str | None = None) -> list[Path]:
    """Remove what killed processes have left of this target, or of all in the folder; returns what it was."""
    of = "*" if target_name is None else glob.escape(target_name)
    with suppress(OSError):  # a folder that is not there or cannot be listed
        return [path for path in folder.glob(f".{of}.*.tmp") if _remove(path)]
    return []


def _remove(path: Path) -> bool:
    """Whether it was left, and is removed."""
    try:
        # Neither waits for the other end of a pipe nor follows a link.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return False
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)
    except OSError:  # it is in the making, gone, or not ours
        return False
    return True
