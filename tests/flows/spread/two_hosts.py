"""Two hosts: each a worker with a queue, a state folder, a budget and a history of its own."""

import fcntl
import json
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil

from db import ask as ask_sql
from db import open_history
from tests.flows.served import Host, host, serving
from tests.flows.support import ask
from tests.groth16.samples import sample

FINAL = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}
ZKEY = sample("bn254", "sample.zkey")
SETTINGS = f"""
[memory]
total_budget = "256MiB"
[circuits.sample]
zkey = "{ZKEY}"
witness = "{sample("bn254", "sample.wtns")}"
"""
PARTITIONS = 2
ON_BOTH: dict[str, Any] = {"circuit": "sample", "hosts": ["host-1", "host-2"], "partitions": PARTITIONS}

Served = tuple[Host, "subprocess.Popen[str]"]
Both = tuple[Served, Served]


@contextmanager
def two_hosts(homes: list[Path]) -> Iterator[Both]:
    """Inside the block they serve; the first has the server. They have only the key's folder in common."""
    for home in homes:
        (home / "cuzk.toml").write_text(SETTINGS)
    with host(homes[0]) as first:
        second = Host(homes[1], first.api_url, first.hook_url, joins=True)
        with serving(first, "--queue", "host-1") as one, serving(second, "--queue", "host-2") as two:
            yield (first, one), (second, two)


def holds_still(processes: Sequence[psutil.Process], homes: Sequence[Path]) -> None:
    """Suspend them, none of them in a moment in which it holds a lock that others need."""
    while True:
        for each in processes:
            each.suspend()
        if not any(_is_locked(home) for home in homes):
            return
        for each in processes:
            each.resume()
        time.sleep(0.02)


def _is_locked(home: Path) -> bool:
    """The history, or a file beside it: the memory ledger's."""
    try:
        with closing(sqlite3.connect(home / "history.db", timeout=0.2)) as history:
            history.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    for path in home.glob("memory-*.lock"):
        with path.open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
    return False


def rows(on: Host, question: str) -> set[tuple[str, ...]]:
    """What the host's history answers."""
    with open_history(on.home / "history.db") as history:
        return {tuple(map(str, row)) for row in ask_sql(history, question).rows}


def proved(on: Host) -> set[tuple[str, ...]]:
    """Names and states of what the host has in its history as proofs."""
    return rows(on, "SELECT proof, state FROM history_proofs")


def artifact(on: Host, run_id: str, key: str) -> list[dict[str, str]]:
    """The rows of a run's table."""
    (found,) = ask(
        on.api_url,
        "artifacts/filter",
        artifacts={"flow_run_id": {"any_": [run_id]}, "key": {"any_": [key]}},
    )
    table: list[dict[str, str]] = json.loads(found["data"])
    return table


def shares(on: Host, run_id: str) -> list[dict[str, Any]]:
    """The flow runs that are part of that one, by name."""
    parent = {"parent_flow_run_id": {"any_": [run_id]}}
    found: list[dict[str, Any]] = ask(on.api_url, "flow_runs/filter", flow_runs=parent, sort="NAME_ASC")
    return found


def on_their_way(on: Host, run_id: str) -> list[Any]:
    """What was sent to a batch's run, and is not read."""
    found: list[Any] = ask(on.api_url, f"flow_runs/{run_id}/input/filter", prefix="partitions-")
    return found
