"""Reading the small files of text that people write."""

import errno
from pathlib import Path

# Under these names a process finds what it has open already; elsewhere opening a pipe waits for a writer.
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/")


def read_text(path: Path) -> str:
    """The text of a file in UTF-8. Raises UnicodeDecodeError, and OSError, for a named pipe too."""
    if path.is_fifo() and not str(path).startswith(_STREAMS):
        raise OSError(errno.EINVAL, "is a named pipe, not a regular file")
    return path.read_text(encoding="utf-8")
