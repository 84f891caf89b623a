"""Where records are kept while the database is away: a file that outlives the process, imported later.

Whoever writes a file holds a lock on it, so that who finds one knows whether its writer still lives.
"""

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine

from db.changes import Change, write
from db.errors import HistoryError
from db.ids import new_id
from db.lines import decode, encode, whole_lines

_log = logging.getLogger("cuzk.history")

_AT_ONCE = 2_000
SUFFIX = ".jsonl"


class Spool:
    """The file of one writer: changes kept while the database is away, and ends that are noted beforehand."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{new_id()}{SUFFIX}"
        self._file: BinaryIO | None = None
        self._kept = False
        self._one_at_a_time = threading.Lock()

    def keep(self, changes: Sequence[Change]) -> None:
        """Append all or, raising OSError, none of them."""
        with self._one_at_a_time:
            self._append(changes)
            self._kept = True

    def note(self, changes: Sequence[Change]) -> None:
        """Append what will soon be written to the database, for the case that the process is killed before.

        Takes a tenth of a millisecond. Raises OSError.
        """
        with self._one_at_a_time:
            self._append(changes)

    def forget(self) -> None:
        """What was noted is in the database now."""
        with self._one_at_a_time:
            if self._file is not None and not self._kept:
                self._file.truncate(0)

    def empty_into(self, engine: Engine) -> None:
        """Write what is kept to the database. Raises db.changes.AWAY, with all kept."""
        if self._file is None or not self._kept:
            return
        size_bytes = self._file.seek(0, os.SEEK_END)
        _write_all(engine, self.path)
        with self._one_at_a_time:
            self._kept = False
            if self._file.seek(0, os.SEEK_END) == size_bytes:  # else something was noted meanwhile
                self._file.truncate(0)

    def close(self) -> None:
        """Leave the file to whoever opens the history next if something is kept, else remove it."""
        with self._one_at_a_time:
            if self._file is not None:
                if not self._kept:
                    self.path.unlink(missing_ok=True)
                self._file.close()
            with suppress(OSError):  # not empty, or not there
                self.path.parent.rmdir()

    def _append(self, changes: Sequence[Change]) -> None:
        file = self._file or self._open()
        end = file.seek(0, os.SEEK_END)
        rest = "".join(map(encode, changes)).encode()
        try:
            while rest:  # of what a full disk has no room for, it takes the beginning without a word
                rest = rest[file.write(rest) :]
        except OSError:
            with suppress(OSError):
                file.truncate(end)
            raise

    def _open(self) -> BinaryIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("ab", buffering=0)
        fcntl.flock(file, fcntl.LOCK_EX)
        self._file = file
        return file


def import_left(engine: Engine, folder: Path) -> None:
    """Write what writers that live no more have kept in `folder` to the database, and remove their files.

    Raises db.changes.AWAY if the database is away. Written twice, after a crash in between, is written once.
    """
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        with path.open("rb") as file:
            if _is_left(file):
                _write_all(engine, path)
                path.unlink(missing_ok=True)
    with suppress(OSError):  # not empty, or not there
        folder.rmdir()


def copy_into(engine: Engine, folder: Path) -> None:
    """Write what `folder` keeps to another database too; what cannot be written there is passed over."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        for changes in _chunks(path, lambda _: None):
            write(engine, changes, lambda *_: None)


def _is_left(file: BinaryIO) -> bool:
    """Whether its writer is gone, and nobody else has imported it meanwhile."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(file.fileno()).st_nlink > 0


def _write_all(engine: Engine, path: Path) -> None:
    refused = 0

    def refuse(_: Change | None, error: Exception) -> None:
        nonlocal refused
        refused += 1
        _log.warning("%s: a record is refused and skipped: %s", path, error) if refused == 1 else None

    for changes in _chunks(path, lambda error: refuse(None, error)):
        write(engine, changes, refuse)


def _chunks(path: Path, damaged: Callable[[Exception], None]) -> Iterator[list[Change]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        changes = _changes(whole_lines(file), damaged)
        while chunk := list(islice(changes, _AT_ONCE)):
            yield chunk


def _changes(lines: Iterable[str], damaged: Callable[[Exception], None]) -> Iterator[Change]:
    """Those of the lines; one that a disk or a crash has damaged is told, and keeps no other back."""
    for line in lines:
        try:
            yield decode(line)
        except HistoryError as error:
            damaged(error)
