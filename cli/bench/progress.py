"""A line that takes the place of the one before on a terminal; elsewhere one now and then."""

from __future__ import annotations

import time
from typing import TextIO

EVERY_S = 10.0


class ProgressLine:
    """`show` the line as it is now; `print` others in between, which stay."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._is_terminal = stream, stream.isatty()
        self._shown, self._next_s = "", time.monotonic() + EVERY_S

    def show(self, line: str) -> None:
        """Empty: take it away."""
        if self._is_terminal:
            self._write(f"\r\x1b[2K{line}")
            self._shown = line
        elif line and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + EVERY_S
            self._write(line + "\n")

    def print(self, line: str) -> None:
        """Above the line that is shown."""
        if self._is_terminal and self._shown:
            self._write(f"\r\x1b[2K{line}\n{self._shown}")
        else:
            self._write(line + "\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
