"""A home of its own, a server that runs, and a circuit in its settings."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.circuits.prepared import default_folder
from benchmarks.memory.circuits import make

SETTINGS = """
[memory]
ledger = "off"
[circuits.dense]
zkey = "{zkey}"
witness = "{witness}"
"""
API_URL = "PREFECT_API_URL"


@dataclass(frozen=True)
class Setting:
    """Where a benchmark's batches run. The environment points to both while it lasts."""

    home: Path
    api_url: str
    server_pid: int  # as it was started first

    def ask(self, question: str, **body: object) -> Any:
        """POST to Prefect's API."""
        content = json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.api_url}/{question}", content, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def flow_run(self, flow_run_id: str) -> dict[str, Any]:
        (found,) = self.ask("flow_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}})
        return dict(found)

    def newest_flow_run(self) -> dict[str, Any]:
        (found,) = self.ask("flow_runs/filter", sort="START_TIME_DESC", limit=1)
        return dict(found)

    def count_tasks(self, flow_run_id: str, *states: str) -> int:
        """How many tasks of the flow run the server has in these states; in any, where none is given."""
        of_run, of_states = {"id": {"any_": [flow_run_id]}}, {"state": {"type": {"any_": states}}}
        return int(self.ask("task_runs/count", flow_runs=of_run, task_runs=of_states if states else None))


@contextmanager
def setting(log2_size: int | None = None) -> Iterator[Setting]:
    """log2_size: of the constraints of a circuit "dense" in the settings; None: the bundled ones alone."""
    from flows.server.chosen import prefect_server

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _set(CUZK_HOME=folder, CUZK_CONFIG=str(home / "cuzk.toml"), CUZK_HISTORY_URL=None, **{API_URL: None})
        text = '[memory]\nledger = "off"\n'
        if log2_size is not None:
            (made,) = make([log2_size], default_folder(), say)
            text = SETTINGS.format(zkey=made.zkey, witness=made.witness)
        (home / "cuzk.toml").write_text(text)
        with prefect_server(home, say) as server, server.kept_alive(say):
            server.wait_ready(say)
            assert server.local is not None, "PREFECT_API_URL is not set"
            yield Setting(home, server.api_url, server.local.pid)


def _set(**variables: str | None) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def say(line: str) -> None:
    """To stderr, so that stdout has the result alone."""
    print(line, file=sys.stderr, flush=True)


def silent(line: str) -> None:
    """Nobody listens."""


def eventually(holds: Callable[[], bool], within_s: float) -> float | None:
    """After how many seconds it came to hold; None where it did not."""
    begun_s = time.monotonic()
    while not holds():
        if time.monotonic() - begun_s > within_s:
            return None
        time.sleep(0.05)
    return time.monotonic() - begun_s
