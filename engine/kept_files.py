"""A folder of derived files with a limit on their bytes: the least recently used ones go.

A file's time of change is when it was last used. Everything may be deleted at any time, also by other
processes; a folder that cannot be read or written costs a warning and is otherwise as if it were empty.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groth16.errors import InputError

log = logging.getLogger("cuzk.engine")

LEAST_FILE_BYTES = 4096  # what even an empty file takes
LEFTOVER_AFTER_S = 3600.0
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
        try:
            os.utime(path)
        except OSError as error:
            return not isinstance(error, FileNotFoundError) and path.exists()  # perhaps it is read-only
        return True

    def keep(self, name: str, write: Callable[[Path], object], size_bytes: int = LEAST_FILE_BYTES) -> None:
        """Make room for a file of this size and write it; `write` does so at once or not at all.

        Does nothing where it would be larger than the limit.
        """
        if size_bytes > self.limit_bytes:
            return
        try:
            self._make_room(size_bytes)
            write(self.folder / name)
        except (OSError, InputError) as error:
            self._warn(error.strerror if isinstance(error, OSError) else error)

    def _make_room(self, size_bytes: int) -> None:
        now_s = time.time()
        files: list[tuple[float, int, Path]] = []
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):  # another process makes room as well
                found = path.stat()
                if path.suffix == ".tmp" and found.st_mtime < now_s - LEFTOVER_AFTER_S:
                    path.unlink()  # left by a process that was killed while it wrote
                else:
                    files.append((found.st_mtime, max(found.st_size, LEAST_FILE_BYTES), path))
        excess_bytes = sum(size for _, size, _ in files) + size_bytes - self.limit_bytes
        for _, size, path in sorted(files):
            if excess_bytes <= 0:
                break
            path.unlink(missing_ok=True)  # who has mapped it keeps its pages
            excess_bytes -= size

    def _warn(self, why: object) -> None:
        if self.folder not in _warned:
            _warned.add(self.folder)
            log.warning("%s: nothing can be kept there (%s), so every run makes it again", self.folder, why)


NONE = KeptFiles(Path(), 0)
