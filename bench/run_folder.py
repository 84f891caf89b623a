"""The folder of one run: its plan, log, samples, results and report, and nothing of another run.

run.json       the command, versions, machine and settings; written before anything starts
log.txt        what was said, with the time of each line
samples.jsonl  what the monitor saw, an object a line
results.json   written once, at the end
report.html    a page that needs nothing beside it
"""

from __future__ import annotations

import json
import platform
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.errors import BenchError
from bench.monitor import ProcessSample
from config import Config, home
from engine.limits import memory
from engine.recorder import describe
from groth16.output import replacing

RESULTS = "results.json"
PACKAGES = ("cuzk", "numba", "numba-cuda", "numpy", "grpcio", "psutil")


class RunFolder:
    """A new folder, `path`, named by the run's id; use as a context, which closes its files.

    `say` may be called from any thread: what it is told goes to the terminal by `show`, and to the log.
    Raises BenchError where the folder cannot be made, or is there already.
    """

    def __init__(self, run_id: str, show: Callable[[str], None], parent: Path | None = None) -> None:
        self.run_id, self._show = run_id, show
        self.path = (parent or runs_folder()) / run_id
        try:
            self.path.mkdir(parents=True)
        except FileExistsError as error:
            raise BenchError(f"{self.path}: is there already, so it is another run's; start again") from error
        except OSError as error:
            raise BenchError(
                f"{self.path}: cannot be made ({error.strerror}); set CUZK_HOME to another folder"
            ) from error
        self._writing = threading.Lock()
        self._log = (self.path / "log.txt").open("x", encoding="utf-8", buffering=1)
        self._samples = (self.path / "samples.jsonl").open("x", encoding="utf-8", buffering=1)

    def say(self, line: str) -> None:
        """Tell a person, and keep it."""
        self.note(line)
        self._show(line)

    def note(self, line: str) -> None:
        """Keep it in the log."""
        with self._writing:
            self._log.write(f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {line}\n")

    def sample(self, sample: ProcessSample, **beside: Any) -> None:
        """Keep what a monitor saw, and what else is known of that moment."""
        with self._writing:
            self._samples.write(json.dumps(sample.as_dict() | beside) + "\n")

    def write_plan(self, command: Sequence[str], config: Config, plan: Mapping[str, Any]) -> None:
        """Keep what is going to happen, and on what."""
        values = {
            "run_id": self.run_id,
            "started_at": datetime.now(UTC).isoformat(),
            "command": shlex.join(command),
            "versions": versions(),
            "machine": dict(describe(memory())) | {"host": platform.node()},
            "config": config.snapshot(),
            "plan": dict(plan),
        }
        self.write("run.json", json.dumps(values, indent=1) + "\n")

    def write_results(self, results: Mapping[str, Any]) -> Path:
        """Keep how it went."""
        return self.write(RESULTS, json.dumps(results, indent=1) + "\n")

    def write(self, name: str, text: str) -> Path:
        """A file of the run; it appears whole or not at all."""
        path = self.path / name
        with replacing(path) as file:
            file.write(text.encode())
        return path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.note(f"ended by {type(error).__name__}: {error}")
        self._log.close()
        self._samples.close()


def runs_folder() -> Path:
    """Where runs' folders lie."""
    return home() / "bench"


def versions() -> dict[str, str]:
    """Of what the figures depend on, as installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
