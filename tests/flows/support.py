"""What the flows' tests share: patience, batches in processes of their own, questions to Prefect's API."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240.0
LOOK_EVERY_S = 0.2  # most ask a server, which takes 10 ms of processor time

RUN = """
import json, sys
from flows.parameters.batch import BatchParameters
from flows.launch import run_batch
from flows.summary import BatchFailed
try:
    summary = run_batch(BatchParameters(**json.loads(sys.argv[1])), lambda line: print(line, flush=True))
except KeyboardInterrupt:
    sys.exit(130)
print("done", summary.run_id, summary.flow_run_url.split("/")[-1], summary.output)
"""


def silent(line: str) -> None:
    """Nobody listens."""


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold within a patient time."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not (held := holds()) and time.monotonic() < deadline_s:
        time.sleep(LOOK_EVERY_S)
    return held


def start_batch(home: Path, api_url: str = "", **parameters: object) -> "subprocess.Popen[str]":
    """run_batch in a process of its own; its lines, and then "done" with ids and folder, are its output."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(parameters, default=str)],
        cwd=ROOT,
        env={**os.environ, "CUZK_HOME": str(home), "PREFECT_API_URL": api_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_until(process: "subprocess.Popen[str]", words: str) -> None:
    """Read lines up to one with these words in it; the test fails if the process ends before."""
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(process.stderr.read())


def ask(api_url: str, question: str, **body: object) -> Any:
    """POST to Prefect's API."""
    request = urllib.request.Request(
        f"{api_url}/{question}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    return answer_to(request)


def answer_to(request: urllib.request.Request) -> Any:
    """The answer; a server that is busy, as Prefect's with SQLite may be, is asked again."""
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or "null")
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline_s:
                raise
            time.sleep(0.1)


def task_runs(api_url: str, flow_run_id: str) -> list[dict[str, Any]]:
    """The recorded tasks of a flow run, at most 200."""
    runs: list[dict[str, Any]] = ask(
        api_url, "task_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}}, sort="ID_DESC"
    )
    return runs
