"""Folders of compiled kernels of other versions: marked while in use, removed once long unused."""

import fcntl
import logging
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

log = logging.getLogger("cuzk.kernels")

UNUSED_FOR_S = 30 * 86_400.0
MARK = "in-use.lock"
_NAME = re.compile(r"numba-[0-9a-f]{16}")

_marks: list[int] = []  # open for the life of the process, each with its lock


def use(path: Path) -> None:
    """Make the folder, and mark it as in use by this process for as long as it lives. Raises OSError.

    Whoever makes a folder removes others beside it that no process has used for long.
    """
    is_new = not path.is_dir()
    while not _marked(path):  # it was removed this very moment
        pass
    if is_new:
        remove_unused(path)


def _marked(path: Path) -> bool:
    path.mkdir(parents=True, exist_ok=True)
    try:
        mark = os.open(path / MARK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except FileNotFoundError:
        return False
    with suppress(OSError):  # no locks there: its age is all that others know
        fcntl.flock(mark, fcntl.LOCK_SH)
    try:
        is_there = os.path.samestat(os.fstat(mark), (path / MARK).stat())
    except FileNotFoundError:
        is_there = False
    if not is_there:
        os.close(mark)
        return False
    with suppress(OSError):  # of another user
        os.utime(mark)
    _marks.append(mark)
    return True


def remove_unused(own: Path, unused_for_s: float = UNUSED_FOR_S) -> list[Path]:
    """Remove the folders of kernels beside this one that nobody uses now, or has used for so long."""
    removed = []
    with suppress(OSError):
        for path in own.parent.iterdir():
            if path != own and _NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                removed += [path] if _removed(path, time.time() - unused_for_s) else []
    return removed


def _removed(path: Path, before_s: float) -> bool:
    """Whether nobody uses it, nothing in it is of later, and it could be removed."""
    try:
        if max(each.stat().st_mtime for each in (path, *path.rglob("*"))) > before_s:
            return False
        mark = os.open(path / MARK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return False
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        gone = path.with_name(f"{path.name}.{os.getpid()}.removed")
        path.rename(gone)  # who comes now makes a new one
        shutil.rmtree(gone, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(mark)
    log.info("%s: removed, kernels of a version that was not used for long", path)
    return True
