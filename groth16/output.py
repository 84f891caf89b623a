"""Writing files: a reader sees the old file or the whole new one, never a half."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from groth16.errors import InputError
from groth16.temporary import create, remove_leftovers

_STDOUT = 1
_READER_WITHIN_S = 5.0
_LOOK_EVERY_S = 0.02


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write that takes `path`'s place when the block ends, and is removed if the block fails.

    What a process that was killed in such a block for the same path has left is removed first.

    Where `path` is a link, the file that it leads to is replaced. What is no regular file (a device, a pipe)
    and what stdout leads to keep their place: they are written as the block goes.
    Raises InputError if the folder is missing or cannot be written, the disk is full, or nobody reads a pipe.
    """
    path = Path(path)
    try:
        with _in_place(path) if _keeps_its_place(path) else _by_rename(_target(path)) as file:
            yield file
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}): check folder, permissions, space"
        ) from error


@contextmanager
def _in_place(path: Path) -> Iterator[BinaryIO]:
    # Stdout as it is open, not opened anew: a file keeps what others wrote, and they go on after it.
    descriptor = os.dup(_STDOUT) if is_stdout(path) else _open_for_a_reader(path)
    with os.fdopen(descriptor, "wb") as file:
        yield file


def _open_for_a_reader(path: Path) -> int:
    """Open what keeps its place. A named pipe's reader may be just starting, and has seconds for that."""
    give_up_s = time.monotonic() + _READER_WITHIN_S
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            if time.monotonic() > give_up_s:
                raise InputError(
                    f"{path}: is a named pipe that nobody reads; start its reader before, or name a file"
                ) from error
            time.sleep(_LOOK_EVERY_S)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


@contextmanager
def _by_rename(target: Path) -> Iterator[BinaryIO]:
    remove_leftovers(target.parent, target.name)
    with create(target) as file:
        temporary = Path(file.name)
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def check_outputs(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Refuse before the work what could not be written after it, and what would be lost by it.

    Raises InputError for an output that is a folder or in none that can be written, or that is one file with
    an input or another output. Devices and pipes hold nothing to lose, they may be named several times.
    """
    for index, path in enumerate(outputs):
        _check_writable(path)
        if (taken := _first_same(path, inputs)) is not None:
            raise InputError(f"{path}: is the input {taken} as well, expected another file to write")
        if (taken := _first_same(path, outputs[:index])) is not None:
            raise InputError(f"{path}: is the output {taken} as well, expected one file for each")


def check_folder(folder: Path) -> None:
    """Refuse before the work a folder that could not be made after it, or be written. Raises InputError."""
    there = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"{folder}: cannot be written, expected a folder that can be made: choose another")


def make_folder(folder: Path) -> None:
    """It and those above it, as far as they are not there. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}): choose another folder") from error


def is_stdout(path: Path) -> bool:
    """Whether writing to `path` is writing to where stdout leads."""
    try:
        return os.path.samestat(path.stat(), os.fstat(_STDOUT))
    except OSError:  # one of them is not there
        return False


def _check_writable(path: Path) -> None:
    if _keeps_its_place(path):
        writable = not path.is_dir() and os.access(path, os.W_OK)
    else:
        folder = _target(path).parent
        writable = folder.is_dir() and os.access(folder, os.W_OK)
    if not writable:
        raise InputError(
            f"{path}: cannot be written, expected a file in a folder that can be: choose another"
        )


def _first_same(path: Path, others: Sequence[Path]) -> Path | None:
    return next((other for other in others if _same_file(path, other)), None)


def _same_file(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.is_file() and path.samefile(other)
    return _target(path) == _target(other)


def _keeps_its_place(path: Path) -> bool:
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except OSError:  # it is not there yet, or cannot be: writing says why
        return False
    return not regular or is_stdout(path)


def _target(path: Path) -> Path:
    """Where links lead, also to what is not there; unlike Path.resolve it bears a link to itself."""
    return Path(os.path.realpath(path))
