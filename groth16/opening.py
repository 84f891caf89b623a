"""Opening files to read: what is none is refused by its kind, and no kind makes the reader wait for ever."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from groth16.errors import InputError

# Under these names a process finds what it has open already. Elsewhere a pipe makes who opens it wait for a
# writer, and a device may never end.
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/", "/dev/tty")
_A_FILE = "expected a regular file"
_A_FILE_OR_STREAM = f"{_A_FILE}, or - for the standard input"


def open_to_read(path: Path, *, as_stream: bool = False) -> BufferedReader:
    """Open a file, or raise InputError that says why not.

    as_stream: it is read from beginning to end once, so that it may be the standard input or a pipe that the
    shell has opened; otherwise what cannot be sought in is refused.
    """
    try:
        if (refusal := refusal_of_kind(path, as_stream=as_stream)) is not None:
            raise InputError(f"{path}: {refusal}")
        file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 — its caller closes it
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({why}): check the path and its permissions") from error
    if as_stream or file.seekable():
        return file
    file.close()
    raise InputError(f"{path}: is a pipe, expected a file: write it to one first")


def refusal_of_kind(path: Path, *, as_stream: bool = False) -> str | None:
    """Why nothing of this kind is read, and what is; None for what can be.

    Looks without opening: what comes from a pipe can be read only once. Raises OSError for what is not there.
    """
    found = path.stat()
    if stat.S_ISREG(found.st_mode):
        return None
    if stat.S_ISDIR(found.st_mode):
        return "is a folder, expected a file: name a file in it"
    expected = _A_FILE_OR_STREAM if as_stream else _A_FILE
    if stat.S_ISSOCK(found.st_mode):
        return f"is a socket; {expected}"
    if str(path).startswith(_STREAMS) or path.samefile(os.devnull):
        return None
    return f"is a {'named pipe' if stat.S_ISFIFO(found.st_mode) else 'device'}; {expected}"


def _open_at_once(path: str, flags: int) -> int:
    """Also a pipe whose writer has ended, which the standard input may be: its rest is read, then its end."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor
