"""The referee's end: a contestant's process, and one task at a time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kernels.fields import CURVES

ROOT = Path(__file__).parents[2]
END_S = 10.0


class ContestantError(Exception):
    """A contestant is not installed, or failed at a task; one line."""


@dataclass(frozen=True)
class Entry:
    """A program that can be started as a contestant.

    needs: a file that must be there; threads: the most that it can use, None for no limit; curves: those that
    it knows; compiles: whether its first run of a task may compile what the later ones use.
    """

    name: str
    command: Sequence[str]
    how_to_get: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    needs: Path | None = None
    threads: int | None = None
    curves: Sequence[str] = tuple(CURVES)
    compiles: bool = False


@dataclass(frozen=True)
class Timing:
    """One run. `answer` is a text that must be the same for all contestants, empty if there is none."""

    wall_s: float
    cpu_s: float
    answer: str = ""
    details: dict[str, Any] = field(default_factory=dict)


@contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """What is started here may run on these cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Contestant:
    """A started contestant; a context manager that ends it."""

    def __init__(self, entry: Entry, cores: Sequence[int]) -> None:
        """Raises ContestantError if it cannot start here."""
        self.name, self.compiles = entry.name, entry.compiles
        self._curves = entry.curves
        if shutil.which(entry.command[0]) is None:
            raise ContestantError(f"{entry.command[0]} is not installed")
        # A file, since a pipe that nobody reads would fill and stop it.
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115 — `close` does
        with pinned(cores):
            self._process = subprocess.Popen(
                entry.command,
                cwd=ROOT,
                env={**os.environ, **entry.environment, "CONTESTANT_THREADS": str(len(cores))},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                text=True,
            )
        try:
            hello = self._answer()
        except ContestantError:
            self.close()
            raise
        self.version: str = hello["version"]
        self.tasks: frozenset[str] = frozenset(hello["tasks"])

    def can(self, task: str, curve: str) -> bool:
        return task in self.tasks and curve in self._curves

    def measure(self, task: str, **arguments: Any) -> Timing:
        """Do a task once; it is prepared again only if the last one was another. Raises ContestantError."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"task": task, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ContestantError(f"{self.name} ended before its task {task}") from None
        return Timing(**self._answer())

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            raise ContestantError(f"{self.name} ended with status {status}: {self._last_word()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ContestantError(f"{self.name}: {answer['error']}")
        return answer

    def _last_word(self) -> str:
        """Of what it wrote before it ended: the line that names an error, else the last."""
        self._words.seek(0)
        lines = self._words.read().strip().splitlines() or ["without a word"]
        return next((line.strip() for line in reversed(lines) if "Error" in line), lines[-1])

    def close(self) -> None:
        """End it: by the end of its input, or the hard way."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._words.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self.close()
