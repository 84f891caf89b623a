"""The process of a run under `cuzk serve`: Prefect's engine, whatever becomes of who reads its output.

A worker that is killed leaves its runs behind, and Prefect's next line for the log would end them.
"""

import io
import os
import runpy
import sys
from typing import TextIO

from typing_extensions import Buffer, override


class _Unread(io.RawIOBase):
    """What writes to a file's descriptor, also where whoever reads that has gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @override
    def writable(self) -> bool:
        return True

    @override
    def fileno(self) -> int:
        return self._descriptor

    @override
    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    @override
    def write(self, data: Buffer, /) -> int:
        try:
            return os.write(self._descriptor, data)
        except BrokenPipeError:
            return len(memoryview(data))


def unread(descriptor: int) -> TextIO:
    """The stream, line by line; after its reader's end lines are lost, and nobody is told."""
    raw = io.BufferedWriter(_Unread(descriptor))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def main() -> None:
    os.setpgrp()  # Ctrl-C is for the worker, which then tells its runs; a second signal ends a run at once
    sys.stdout, sys.stderr = unread(1), unread(2)
    runpy.run_module("prefect.engine", run_name="__main__")


if __name__ == "__main__":
    main()
