"""What is derived from a proving key, made once for what is in the key and not for each run.

    IDENTITY.content    the hash of the key with this path, inode, size and times, of which each change
                        counts; and a checksum over both, so that no other key's note is taken for it
    CONTENT.matrices-N  the key's matrices as they are in memory, in the form N (see `groth16.matrices_file`)
    CONTENT.table-RxB   multiples of the key's H points, for batches (see `tables`)
    CONTENT.checked-N   empty: the key's points passed the checks N: they are on their curves

The points themselves need no conversion: they are used where the key is mapped.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from engine.kept_files import KeptFiles
from engine.key_notes import (
    content_note,
    key_identity,
    matrices_name,
    note_name,
    noted_content,
    table_name,
)
from groth16 import sizes
from groth16.errors import InputError
from groth16.key_check import check_points
from groth16.matrices import Matrices, read_matrices
from groth16.matrices_file import map_matrices, write_matrices
from groth16.opening import open_to_read
from groth16.output import replacing
from groth16.table_file import map_table, write_table
from groth16.zkey import KeyHeader, ProvingKey
from kernels.cpu.tables import Table, make_table
from kernels.parallel import Run

T = TypeVar("T")
log = logging.getLogger("cuzk.engine")

_CHECKS = 1
_BLOCK_BYTES = 1 << 22  # that one thread hashes at a time
_CLOCK_TICK_S = 0.02  # two changes closer than this can have the same time in a file system
_hashing = threading.Lock()  # the parts of a key are loaded side by side, and its content is hashed once


class KeyCache:
    """Safe to use from several threads and processes at once."""

    def __init__(self, files: KeptFiles) -> None:
        self._files = files

    def matrices(self, header: KeyHeader, run: Run) -> Matrices:
        """The key's matrices, mapped from their file, or as read where that cannot be kept.

        Raises InputError as `read_matrices` does, and EngineError for a key that is gone.
        """
        return self._derived(
            header.path,
            matrices_name,
            sizes.matrices_bytes(header),
            make=lambda: read_matrices(header, run),
            write=lambda path, made: write_matrices(path, made, run),
            read=lambda path: map_matrices(path, header, run),
            run=run,
        )

    def table(self, key: ProvingKey, run: Run) -> Table:
        """The table of the key's H points, mapped from its file, or as made where that cannot be kept.

        Raises EngineError for a key that is gone.
        """
        return self._derived(
            key.header.path,
            table_name,
            sizes.table_bytes(key.header),
            make=lambda: make_table(key.header.curve.g1, key.h, run),
            write=lambda path, made: write_table(path, made, run),
            read=lambda path: map_table(path, key.header, run),
            run=run,
        )

    def check_points(self, key: ProvingKey, run: Run) -> None:
        """Check the points of a key, once for what is in it. Raises InputError as the check does."""
        identity = key_identity(key.header.path)
        content = self._content(key.header.path, identity, run)
        note = f"{content}.checked-{_CHECKS}"
        if content is not None and self._files.used(note):
            return
        check_points(key, run)
        if content is not None and key_identity(key.header.path) == identity:
            self._files.keep(note, Path.touch)

    def _derived(
        self,
        zkey: Path,
        name_of: Callable[[str], str],
        size_bytes: int,
        *,
        make: Callable[[], T],
        write: Callable[[Path, T], object],
        read: Callable[[Path], T],
        run: Run,
    ) -> T:
        """What is read from the file of the key's content; without that it is made, kept, and read."""
        identity = key_identity(zkey)
        content = self._content(zkey, identity, run)
        if content is None:
            return make()
        if (found := self._read(name_of(content), read)) is not None:
            return found
        made = make()
        if key_identity(zkey) != identity:  # it is perhaps not of what was hashed
            return made
        self._files.keep(name_of(content), lambda path: write(path, made), size_bytes)
        found = self._read(name_of(content), read)
        return made if found is None else found

    def _read(self, name: str, read: Callable[[Path], T]) -> T | None:
        if not self._files.used(name):
            return None
        try:
            return read(self._files.folder / name)
        except InputError as error:
            log.warning("%s; it is made again", error)
            return None

    def _content(self, zkey: Path, identity: str, run: Run) -> str | None:
        """The hash of the key, from its note where there is one; None where nothing can be kept."""
        with _hashing:
            if noted := noted_content(self._files, identity):
                return noted
            if not self._files.usable():
                return None
            _let_settle(zkey)
            content = content_hash(zkey, run)
            if key_identity(zkey) == identity:
                text = content_note(identity, content)
                self._files.keep(note_name(identity), lambda path: _write(path, text))
            return content


def content_hash(path: Path, run: Run) -> str:
    """SHA-256 over the SHA-256 of each 4 MiB of the file, so that threads share the work; 64 hex digits."""
    with open_to_read(path) as file:
        descriptor = file.fileno()
        offsets = range(0, os.fstat(descriptor).st_size, _BLOCK_BYTES)
        blocks = run(_block_hash, [(descriptor, offset) for offset in offsets])
    return hashlib.sha256(b"".join(blocks)).hexdigest()


def _block_hash(descriptor: int, offset: int) -> bytes:
    return hashlib.sha256(os.pread(descriptor, _BLOCK_BYTES, offset)).digest()


def _let_settle(path: Path) -> None:
    """Wait until a change to come has another time than the last, so that the note is no longer used then."""
    with suppress(OSError):  # told when the key is hashed
        age_s = time.time() - path.stat().st_ctime
        time.sleep(min(_CLOCK_TICK_S, max(0.0, _CLOCK_TICK_S - age_s)))


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
