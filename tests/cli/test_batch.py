"""`cuzk bench batch`, `cuzk sim run` and `cuzk history`, end to end against a real Prefect server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import CUZK, Cuzk, succeed

BATCH = (
    "--type",
    "multiplier",
    "--count",
    "3",
    "--concurrency",
    "3",
    "--partitions",
    "2",
    "--budget",
    "64MiB",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of this file's own, so that its history holds these runs only."""
    return tmp_path_factory.mktemp("cli-home")


@pytest.fixture(scope="module")
def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "CUZK_HOME": str(home)}


@pytest.fixture(scope="module")
def batch(cuzk: Cuzk, environment: dict[str, str]) -> str:
    """What a batch prints."""
    return succeed(cuzk("bench", "batch", *BATCH, env=environment))


def test_a_batch_ends_with_its_table_and_its_proofs(batch: str, home: Path) -> None:
    assert all(f"multiplier #{number}   succeeded" in batch for number in (1, 2, 3))
    assert "succeeded: 3 of 3 proofs" in batch
    assert "of a budget of 64MiB" in batch
    assert str(home / "history.db") in batch
    proofs = sorted((home / "proofs").glob("*/*/proof*.json"))
    assert len(proofs) == 6
    assert all(json.loads(path.read_text())["protocol"] == "groth16" for path in proofs)


def test_no_server_is_left(batch: str, home: Path) -> None:
    assert batch
    assert processes_of(home) == []


def test_history_lists_and_shows_it(cuzk: Cuzk, batch: str, environment: dict[str, str]) -> None:
    listed = succeed(cuzk("history", env=environment))
    line = next(line for line in listed.splitlines() if " real " in line)
    assert "succeeded" in line
    shown = succeed(cuzk("history", "show", line.split()[0], env=environment))
    assert shown.splitlines()[2:6] == batch.splitlines()[2:6]


def test_the_simulator_prints_the_same_table(cuzk: Cuzk, batch: str, environment: dict[str, str]) -> None:
    simulated = succeed(cuzk("sim", "run", *BATCH, env=environment))
    lines = [[line.split() for line in text.splitlines()] for text in (batch, simulated)]
    heads = [next(words for words in each if words[:1] == ["proof"]) for each in lines]
    assert heads[0] == heads[1]
    assert "succeeded: 3 of 3 proofs" in simulated
    assert " sim " in succeed(cuzk("history", env=environment))


@pytest.fixture
def long_batch(environment: dict[str, str], batch: str) -> Iterator[subprocess.Popen[str]]:
    """A batch in the middle of its work."""
    assert batch
    command = [CUZK, "bench", "batch", "--type", "multiplier", "--count", "500", "--budget", "64MiB"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "(5 of 500)" in line:
                break
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_killed_batch_is_interrupted_and_the_next_works(
    cuzk: Cuzk, long_batch: subprocess.Popen[str], environment: dict[str, str], home: Path
) -> None:
    long_batch.kill()
    long_batch.wait()
    assert newest_state(cuzk, environment) == "interrupted"
    wait_for_no_process_of(home)
    succeed(cuzk("bench", "batch", *BATCH, env=environment))


def test_a_batch_ends_in_good_order_by_ctrl_c_and_shows_what_there_is(
    cuzk: Cuzk, long_batch: subprocess.Popen[str], environment: dict[str, str], home: Path
) -> None:
    long_batch.send_signal(signal.SIGINT)
    table, complaint = long_batch.communicate(timeout=60)
    assert long_batch.returncode == 130
    assert "Traceback" not in complaint
    assert complaint.splitlines()[-1] == "cuzk: interrupted"
    assert "multiplier #1   " in table
    assert "\ncancelled: " in table
    (folder,) = [line.split()[1] for line in table.splitlines() if line.startswith("proofs ")]
    assert len(list(Path(folder).glob("*/proof.json"))) == table.count("   succeeded ")
    (rest,) = [line for line in table.splitlines() if line.startswith("the rest ")]
    assert rest.endswith(f"bench batch --resume {Path(folder).name}")
    (log,) = [line.split()[1] for line in table.splitlines() if line.startswith("log ")]
    assert Path(log).exists()
    assert newest_state(cuzk, environment) == "cancelled"
    wait_for_no_process_of(home)


def newest_state(cuzk: Cuzk, environment: dict[str, str]) -> str:
    """The state of the run that `cuzk history` lists first."""
    rows = [
        line.split() for line in succeed(cuzk("history", env=environment)).splitlines() if " real " in line
    ]
    return rows[0][4]


def processes_of(home: Path) -> list[psutil.Process]:
    """Processes that were started for this home."""
    return [p for p in psutil.process_iter(["cmdline"]) if str(home) in " ".join(p.info["cmdline"] or [])]


def wait_for_no_process_of(home: Path) -> None:
    deadline_s = time.monotonic() + 60
    while left := processes_of(home):
        assert time.monotonic() < deadline_s, left
        time.sleep(0.2)
