"""A folder of derived files with a limit on their bytes: the least recently used ones go.

A file's time of change is when it was last used. Everything may be deleted at any time, also by other
processes; a folder that cannot be read or written costs a warning and is otherwise as if it were empty.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groth16.errors import InputError
from groth16.temporary import remove_leftovers

log = logging.getLogger("cuzk.engine")

LEAST_FILE_BYTES = 4096  # what even an empty file takes
_warned: set[Path] = set()


@dataclass(frozen=True)
class KeptFiles:
    """The files in `folder`, at most `limit_bytes` together; with 0 nothing is kept."""

    folder: Path
    limit_bytes: int

    def usable(self) -> bool:
        """Whether something can be kept; makes the folder."""
        if self.limit_bytes <= 0:
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._warn(error.strerror)
            return False
        if not os.access(self.folder, os.W_OK):
            self._warn("it cannot be written")
            return False
        return True

    def used(self, name: str) -> bool:
        """Whether the file is there; it counts as used now."""
        path = self.folder / name
        if self.limit_bytes <= 0:
            return False
        if not path.is_file():  # a pipe would be waited for
            if os.path.lexists(path) and not path.is_dir():
                _warn_once(path, "is no regular file; it is made again")
            return False
        with suppress(OSError):  # perhaps it is read-only
            os.utime(path)
        return True

    def keep(self, name: str, write: Callable[[Path], object], size_bytes: int = LEAST_FILE_BYTES) -> None:
        """Make room for a file of this size and write it; `write` does so at once or not at all.

        Does nothing where it would be larger than the limit.
        """
        if size_bytes > self.limit_bytes:
            return
        try:
            self._make_room(size_bytes)
            if not _make_way(self.folder / name):
                return
            write(self.folder / name)
        except (OSError, InputError) as error:
            self._warn(error.strerror if isinstance(error, OSError) else error)

    def _make_room(self, size_bytes: int) -> None:
        remove_leftovers(self.folder)
        files: list[tuple[float, int, Path]] = []
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):  # another process makes room as well
                found = path.stat()
                if stat.S_ISREG(found.st_mode):
                    files.append((found.st_mtime, max(found.st_size, LEAST_FILE_BYTES), path))
        excess_bytes = sum(size for _, size, _ in files) + size_bytes - self.limit_bytes
        for _, size, path in sorted(files):
            if excess_bytes <= 0:
                break
            path.unlink(missing_ok=True)  # who has mapped it keeps its pages
            excess_bytes -= size

    def _warn(self, why: object) -> None:
        _warn_once(self.folder, f"nothing can be kept there ({why}), so every run makes it again")


def _make_way(path: Path) -> bool:
    """Remove what has a file's name and is none; False for a folder, which may hold something."""
    if path.is_dir():
        _warn_once(path, "is a folder, so every run makes the file again; delete it")
        return False
    if not path.is_file():
        path.unlink(missing_ok=True)
    return True


def _warn_once(path: Path, what: str) -> None:
    if path not in _warned:
        _warned.add(path)
        log.warning("%s: %s", path, what)


NONE = KeptFiles(Path(), 0)
