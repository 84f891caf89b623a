"""Writing files: a reader sees the old file or the whole new one, never a half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from groth16.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write that takes `path`'s place when the block ends, and is removed if the block fails.

    Raises InputError if the folder is missing or cannot be written, or the disk is full.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}): check folder, permissions, space"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
