"""A daemon of a benchmark's own: a process, a home, and what is seen of both."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

SETTINGS = """
[memory]
total_budget = "{budget}"
ledger = "off"
[srs]
param_cache = "{params}"
[gpus]
devices = "none"
[daemon]
status_listen = ""
queue_limit = {queue_limit}
keep_results = "{keep_results}"
[daemon.circuits]
POREP_SEAL_COMMIT = "multiplier"
porep-2k = "multiplier-bls12381"
{circuits}
"""


@dataclass
class Look:
    """At one moment: bytes, threads of the system, descriptors."""

    rss_bytes: int
    threads: int
    open_files: int


class Spawned:
    """A daemon that can be started again and again in the same home, at the same address."""

    def __init__(self, home: Path, settings: str) -> None:
        self.home, self.address = home, f"unix://{home}/d.sock"
        (home / "cuzk.toml").write_text(settings)
        self._process: subprocess.Popen[str] | None = None
        self.log = Path()

    def start(self) -> None:
        """Return once it answers."""
        command = [sys.executable, "-c", "from cli.main import daemon_main; daemon_main()"]
        self._process = subprocess.Popen(
            [*command, "--config", str(self.home / "cuzk.toml"), "--listen", self.address],
            env={**os.environ, "CUZK_HOME": str(self.home)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the daemon did not start: status {self._process.wait()}")
        self.log = Path(line.rpartition("; log ")[2].strip())

    def look(self) -> Look:
        """What the system says of it."""
        assert self._process is not None
        process = psutil.Process(self._process.pid)
        return Look(process.memory_info().rss, process.num_threads(), process.num_fds())

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.communicate()


@contextmanager
def spawned(
    budget: str = "1GiB",
    queue_limit: int = 1000,
    keep_results: str = "1h",
    circuits: str = "",
    params: Path | None = None,
) -> Iterator[Spawned]:
    """A daemon that has started, and is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="cuzk-daemon-") as folder:
        home = Path(folder)
        settings = SETTINGS.format(
            budget=budget,
            params=params or home / "params",
            queue_limit=queue_limit,
            keep_results=keep_results,
            circuits=circuits,
        )
        daemon = Spawned(home, settings)
        daemon.start()
        try:
            yield daemon
        finally:
            daemon.stop()
