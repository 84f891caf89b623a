"""Stdout and stderr of the process where they are missing, full, or read by nobody any more."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STREAMS = {1: "stdout", 2: "stderr"}


def replace_missing() -> None:
    """Lead a stream that was closed before the process began to nowhere.

    Its descriptor too, or the next file to be opened would get it, and with it what others write there.
    """
    for descriptor, name in STREAMS.items():
        if getattr(sys, name) is None:
            lead_nowhere(descriptor)
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8", closefd=False))


def outlive_readers() -> None:
    """Work goes on without words where nobody reads a stream any more, and the status tells of the work."""
    if sys.stdout is sys.__stdout__:  # not where a test or a program reads it within the process
        sys.stdout = _outliving(sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _outliving(sys.stderr)


def _outliving(stream: TextIO) -> TextIO:
    stream.flush()
    raw = _OutlivingFile(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=stream.line_buffering
    )


class _OutlivingFile(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            lead_nowhere(self.fileno())
            return super().write(data)


_unread: set[int] = set()


def is_read(descriptor: int) -> bool:
    """Whether somebody may still read what is written there: for what is there only to be read."""
    return descriptor not in _unread


def lead_nowhere(descriptor: int) -> None:
    """Drop what is written to this descriptor from now on."""
    _unread.add(descriptor)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
    os.set_inheritable(descriptor, True)
