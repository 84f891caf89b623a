"""Where what is derived from a proving key lies (see `key_cache`), and what is known from it at once."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from engine.errors import EngineError
from engine.kept_files import KeptFiles
from groth16 import sizes
from groth16.errors import InputError
from groth16.matrices_head import VERSION, matrices_bytes_in
from groth16.zkey import KeyHeader
from kernels.table_shape import ROWS, WINDOW_BITS


def key_identity(zkey: Path) -> str:
    """The file as it is: path, inode, size and times, of which each change counts. Raises EngineError."""
    try:
        found = zkey.stat()
    except OSError as error:
        raise EngineError(f"{zkey}: cannot be read ({error.strerror}); check its path") from error
    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"  # a program can set the first back, not the second
    return f"{zkey.resolve()} {found.st_dev} {found.st_ino} {found.st_size} {times}"


def note_name(identity: str) -> str:
    """Of the file that says what is in that key."""
    return f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.content"


def content_note(identity: str, content: str) -> str:
    """What that file says: the hash of the key, and a checksum."""
    return f"{content} {hashlib.sha256(f'{identity} {content}'.encode()).hexdigest()}"


def noted_content(files: KeptFiles, identity: str) -> str | None:
    """The hash of what is in the key, if it was noted."""
    name = note_name(identity)
    if files.used(name):
        with suppress(OSError, ValueError):  # another process made room
            text = (files.folder / name).read_text()
            content = text.partition(" ")[0]
            return content if text == content_note(identity, content) else None
    return None


def matrices_name(content: str) -> str:
    return f"{content}.matrices-{VERSION}"


def table_name(content: str) -> str:
    return f"{content}.table-{ROWS}x{WINDOW_BITS}"


def keeps_table(zkey: Path, files: KeptFiles) -> bool:
    """Whether the table of a key's multiples is there, as far as can be told without reading the key."""
    content = noted_content(files, key_identity(zkey))
    return content is not None and files.used(table_name(content))


def known_pce_bytes(header: KeyHeader, files: KeptFiles) -> int:
    """What the key's PCE takes: exactly where its matrices are kept as a file, else at most."""
    content = noted_content(files, key_identity(header.path))
    if content is None or not files.used(matrices_name(content)):
        return header.pce_bytes
    try:
        known_bytes = matrices_bytes_in(files.folder / matrices_name(content)) + sizes.roots_bytes(header)
    except InputError:
        return header.pce_bytes  # the file is made again when the key is loaded
    return min(known_bytes, header.pce_bytes)
