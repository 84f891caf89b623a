"""A batch that is killed at a random moment, again and again, and what it leaves each time."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.memory.worker import Task
from db import open_history, show_run
from engine import Ledger
from groth16.json_files import read_json
from groth16.proof import read_proof

ENDED = ("succeeded", "interrupted")


def kill_at_random(task: Task, times: int, seed: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Kill `times` runs between their first moment and their usual end; AssertionError for what is wrong."""
    ledger = Path(task.folder) / "memory.json"
    task = replace(task, ledger=str(ledger), warm_up=False, history_name="history.db")
    _whole(replace(task, run_id="first"))  # perhaps it compiles kernels
    usual_s, moments = _whole(replace(task, run_id="usual")), random.Random(seed)
    states: list[str] = []
    for number in range(times):
        killed = replace(task, run_id=f"killed-{number}")
        after_s = moments.uniform(0.0, usual_s)
        _killed_after(killed, after_s)
        states.append(look(killed))
        report(f"{killed.run_id} after {after_s:.2f} of {usual_s:.2f} s: {states[-1]}")
    _whole(replace(task, run_id="last"))
    assert look(replace(task, run_id="last")) == "succeeded"
    return {"usual_s": usual_s, "killed": times, **{state: states.count(state) for state in set(states)}}


def look(task: Task) -> str:
    """The run's state, once ledger, history and files are found right."""
    assert task.ledger is not None
    ledger = Ledger(Path(task.ledger), "look", task.budget_bytes)
    _, others = ledger.look()
    assert others == [], f"{task.run_id} is gone and holds {others}"
    assert ledger.ask(task.budget_bytes, task.budget_bytes) == task.budget_bytes
    ledger.leave()
    with open_history(str(task.history)) as history:
        detail = show_run(history, task.run_id)
    state, proofs = detail.run.state, detail.proofs
    assert state in ENDED, f"{task.run_id} is {state}"
    assert all(each.proof.state in ENDED for each in proofs), [each.proof.state for each in proofs]
    parts = [part.partition.state for each in proofs for part in each.partitions]
    assert all(part in ENDED for part in parts), parts
    for path in (Path(task.folder) / task.run_id).glob("*/*.json"):
        read_proof(path) if path.name.startswith("proof") else read_json(path)
    return state


def _whole(task: Task) -> float:
    """Seconds from the first moment to the end of a run that nobody kills."""
    with _started(task) as process:
        started_s = time.monotonic()
        process.communicate()
        assert process.returncode == 0, f"{task.run_id} ended with {process.returncode}"
        return time.monotonic() - started_s


def _killed_after(task: Task, after_s: float) -> None:
    with _started(task) as process:
        time.sleep(after_s)
        process.kill()
        process.communicate()


def _started(task: Task) -> subprocess.Popen[str]:
    """Running, and its row in the history: before that there is nothing to look at."""
    process = subprocess.Popen(task.command(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["ready"]
    give_up_s = time.monotonic() + 60
    while not _is_recorded(task) and process.poll() is None:
        assert time.monotonic() < give_up_s, f"{task.run_id} leaves no row"
        time.sleep(0.005)
    return process


def _is_recorded(task: Task) -> bool:
    with sqlite3.connect(f"file:{task.history}?mode=ro", uri=True) as connection:
        return bool(connection.execute("SELECT 1 FROM run WHERE id = ?", (task.run_id,)).fetchone())
