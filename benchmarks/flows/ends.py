"""How batches end: whether every task is recorded in a final state, and how soon a cancel has ended all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.flows.setting import Setting, eventually

FINAL = ("COMPLETED", "FAILED", "CANCELLED", "CRASHED")
OPEN = ("SCHEDULED", "PENDING", "RUNNING", "CANCELLING", "PAUSED")
PATIENCE_S = 60.0
RUN = """
import json, sys
from flows.parameters.batch import batch_parameters
from flows.launch import run_batch
from flows.summary import BatchFailed
from tasks.follow import started
try:
    run_batch(batch_parameters(**json.loads(sys.argv[1])), lambda line: print(line, flush=True))
except (KeyboardInterrupt, BatchFailed):
    pass
print("tasks", started.total(), flush=True)
"""


def start(**parameters: object) -> subprocess.Popen[str]:
    """A batch in a process of its own, whose lines are its output. Its proofs have tasks of their own."""
    command = [sys.executable, "-c", RUN, json.dumps({"tasks": "each", **parameters})]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def recorded(where: Setting, count: int) -> dict[str, object]:
    """For each way to end: tasks that were started, that the server has, and of those the ones not ended."""
    return {
        "success": _ended(where, start(circuit="multiplier", count=count, partitions=2)),
        "failure": _ended(where, start(circuit="multiplier", count=count, inputs=_wrong(where, count))),
        "cancel": _ended(where, _interrupted(where, signal.SIGTERM)),
        "kill": _killed(where),
        "server_restart": _restarted(where),
    }


def _wrong(where: Setting, count: int) -> list[str]:
    """Inputs that satisfy nothing."""
    paths = [where.home / f"wrong-{number}.json" for number in range(count)]
    for path in paths:
        path.write_text('{"a": "6", "b": "7", "c": "1"}')
    return [str(path) for path in paths]


def _ended(where: Setting, process: subprocess.Popen[str]) -> dict[str, int]:
    output, _ = process.communicate()
    tasks = int(output.split("tasks ")[-1])
    run_id = str(where.newest_flow_run()["id"])
    eventually(lambda: where.count_tasks(run_id, *FINAL) >= tasks, PATIENCE_S)
    return {"started": tasks, **_counts(where, run_id)}


def _killed(where: Setting) -> dict[str, int]:
    process = _interrupted(where, signal.SIGKILL)
    process.wait()
    run_id = str(where.newest_flow_run()["id"])
    time.sleep(3.0)  # what it sent is recorded then
    before = where.count_tasks(run_id, *OPEN)
    start(circuit="multiplier", count=1).communicate()
    return {"open_after_the_kill": before, **_counts(where, run_id)}


def _restarted(where: Setting) -> dict[str, int]:
    """The server is killed in the middle of a batch, and started again."""
    process = _under_way(where)
    run_id = str(where.newest_flow_run()["id"])
    os.kill(where.server_pid, signal.SIGKILL)
    output, _ = process.communicate()
    tasks = int(output.split("tasks ")[-1])
    eventually(lambda: where.count_tasks(run_id, *FINAL) >= tasks, PATIENCE_S)
    completed = where.flow_run(run_id)["state_type"] == "COMPLETED"
    return {"started": tasks, "completed": int(completed), **_counts(where, run_id)}


def _counts(where: Setting, run_id: str) -> dict[str, int]:
    return {"recorded": where.count_tasks(run_id), "not_final": where.count_tasks(run_id, *OPEN)}


def _interrupted(where: Setting, number: signal.Signals) -> subprocess.Popen[str]:
    process = _under_way(where)
    process.send_signal(number)
    return process


def _under_way(where: Setting) -> subprocess.Popen[str]:
    circuit = "dense" if "dense" in (where.home / "cuzk.toml").read_text() else "multiplier"
    process = start(circuit=circuit, count=140)
    assert process.stdout is not None
    for line in process.stdout:
        if "proved in" in line:
            return process
    raise RuntimeError(f"the batch has ended with {process.wait()} before a proof was made")


def cancelled(where: Setting, times: int) -> dict[str, object]:
    """Seconds from a cancel, as the UI asks for it, until the process and all that it held are gone."""
    seconds = []
    for _ in range(times):
        process = _under_way(where)
        run_id = where.newest_flow_run()["id"]
        state = {"type": "CANCELLING", "name": "Cancelling"}
        begun_s = time.monotonic()
        where.ask(f"flow_runs/{run_id}/set_state", state=state)
        process.communicate()
        seconds.append(round(time.monotonic() - begun_s, 2))
        time.sleep(1.0)
    left = [str(path) for path in Path(where.home).glob("proofs/*/*/.*")]
    return {"seconds": seconds, "most_s": max(seconds), "temporary_files_left": len(left)}
