"""`cuzk bench` and `cuzk-bench` against real daemons: what they check, say, measure, and how they end."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest

import examples
from cli.bench.public import cuzk_bench
from tests.called import Call, caller
from tests.daemon.conftest import Daemon

CUZK = Path(sys.executable).with_name("cuzk")
PUBLIC = "import sys; from cli.main import bench_main; sys.argv[0] = 'cuzk-bench'; bench_main()"
INPUT = examples.CIRCUITS["multiplier"].inputs
OTHERS_INPUT = examples.CIRCUITS["merkle"].inputs
C1 = '{"SectorNum": 1, "Phase1Out": "abc"}'


@pytest.fixture
def bench(daemon: Daemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """`cuzk bench`, in the daemon's home."""
    call = caller(monkeypatch, capsys, daemon.home, daemon.home / "cuzk.toml")
    return partial(call, "bench")


@pytest.fixture
def public(daemon: Daemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """`cuzk-bench`."""
    call = caller(monkeypatch, capsys, daemon.home, daemon.home / "cuzk.toml")
    return partial(call, "--addr", daemon.address, program=cuzk_bench)


def started(command: list[Any], of: Daemon) -> subprocess.CompletedProcess[str]:
    """As a process of its own, as users start it."""
    return subprocess.run(
        list(map(str, command)), env=environment(of), capture_output=True, text=True, timeout=120, check=False
    )


def environment(of: Daemon) -> dict[str, str]:
    return {**os.environ, "CUZK_HOME": str(of.home), "CUZK_CONFIG": str(of.home / "cuzk.toml")}


class Printed(Protocol):
    @property
    def stdout(self) -> str: ...


def folder_of(done: Printed) -> Path:
    """The run's folder, which its last line names."""
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("run ")]
    return Path(line.split(maxsplit=1)[1])


def results(done: Printed) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder_of(done) / "results.json").read_text())
    return found


def test_a_batch_is_checked_told_measured_and_recorded(daemon: Daemon) -> None:
    done = started(
        [CUZK, "bench", "batch", "--addr", daemon.address, *["-t", "multiplier", "-c", "4", "-j", "2"]],
        daemon,
    )
    assert done.returncode == 0, done.stderr
    told = done.stderr
    assert told.startswith(f"daemon   {daemon.address}: cuzk ")
    assert "circuit  multiplier: " in told
    assert "budget   256MiB" in told
    assert "input    the circuit's own" in told
    assert "were lost" not in told
    assert "4 of 4 proofs in" in done.stdout
    found, folder = results(done), folder_of(done)
    assert [each["state"] for each in found["proofs"]] == ["succeeded"] * 4
    assert {each["stage"] for each in found["proofs"][0]["spans"]} == {
        "load",
        "synthesize",
        "prove",
        "verify",
    }
    assert [each["devices"] for each in found["proofs"]] == [{"0": "cpu"}] * 4
    assert found["proofs_succeeded"] == 4
    assert found["latency"]["count"] == 4
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert samples[0]["rss_bytes"] > 0
    assert "proving" in samples[-1]["pools"]
    page = (folder / "report.html").read_text()
    assert "Stages by resource" in page
    assert 'src="http' not in page
    shown = started([CUZK, "history", "show", folder.name], daemon)
    assert "multiplier ×4, bench run" in shown.stdout


def test_a_run_is_compared_with_an_earlier_one(
    bench: Call,
    daemon: Daemon,
) -> None:
    three = ("batch", "--addr", daemon.address, "-t", "multiplier", "-c", 3)
    first = bench(*three)
    again = bench(*three, "--vs", folder_of(first).name)
    assert again.returncode == 0, again.stderr
    against = [line for line in again.stdout.splitlines() if line.startswith("against ")]
    assert {line.split()[2] for line in against} >= {"synthesize", "prove", "verify"}
    assert results(again)["vs"]["run_id"] == folder_of(first).name
    assert "Against run" in (folder_of(again) / "report.html").read_text()
    other = bench(
        "batch", "--addr", daemon.address, "-t", "multiplier-bls12381", "--vs", folder_of(first).name
    )
    assert other.returncode == 2
    assert "proofs succeeded in it only of multiplier, none of multiplier-bls12381" in other.stderr


def test_the_public_flags_run_what_is_configured(daemon: Daemon) -> None:
    flags = ("--type", "porep", "--c1", INPUT, "--count", 3, "--concurrency", 3, "--miner-id", 9)
    command = [sys.executable, "-c", PUBLIC, "--addr", daemon.address, "batch", *flags]
    done = started(command, daemon)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 proofs" in done.stdout


def test_a_filecoin_input_is_refused_in_one_line_that_says_what_is_missing(
    public: Call,
    tmp_path: Path,
) -> None:
    (tmp_path / "c1.json").write_text(C1)
    flags = ("--type", "porep", "--c1", tmp_path / "c1.json", "--count", 3, "--concurrency", 3)
    done = public("batch", *flags)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "whose circuit this program cannot synthesize" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("batch", "--proof-type", "merkle"), "'--type'"),
        (("batch", "-t", "porep"), "--c1: is missing"),
        (("batch", "-t", "snap"), "--vanilla: is missing"),
        (("batch", "-t", "multiplyer"), "did you mean 'multiplier'?"),
        (("batch", "-t", "multiplier", "--inputs", "/nowhere.json"), "/nowhere.json"),
        (("batch", "-t", "multiplier", "--vs", "ffff"), "no run begins so"),
        (("batch", "-t", "multiplier", "-j", "2000", "-c", "2000"), "daemon.queue_limit"),
        (("batch", "-t", "multiplier", "--budget", "1GiB"), "--budget is the daemon's own"),
        (("batch", "-t", "multiplier", "--output", "/tmp"), "--output is for a batch in this process"),
        (("batch", "-t", "porep", "--c1", INPUT, "--randomness", "12"), "64 hexadecimal digits"),
        (("preload", "-c", "multiplyer"), "did you mean 'multiplier'?"),
        (("stress", "--mix", "multiplier=2"), "expected a circuit and its rate"),
        (("stress", "--mix", "multiplier=0/s"), "expected a circuit and its rate"),
        (("pce-pipeline", "--c1", INPUT, "-j", "4"), "slotted-bench --slot-sizes 4"),
        (("gen-vanilla", "winning-post", "--sealed", "x"), "which this program does not"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    daemon: Daemon, public: Call, arguments: tuple[object, ...], why: str
) -> None:
    before = set(daemon.home.glob("bench/*"))
    done = public(*arguments)
    assert done.returncode == 2
    assert why in done.stderr.splitlines()[-1]
    assert set(daemon.home.glob("bench/*")) == before


def test_a_daemon_that_is_not_there_is_told_with_what_to_do(bench: Call) -> None:
    done = bench("batch", "--addr", "127.0.0.1:1", "-t", "multiplier")
    assert done.returncode == 2
    assert "start one with `cuzk daemon" in done.stderr


def test_options_of_a_daemon_are_refused_without_one(bench: Call) -> None:
    done = bench("batch", "-t", "multiplier", "--timeout", "5s")
    assert done.returncode == 2
    assert "--timeout is for a batch by a daemon; add --addr" in done.stderr
    done = bench("batch", "-t", "multiplier", "--engine", "https://a:1", "--token-file", "token")
    assert done.returncode == 2
    assert "write token_file into [client] there" in done.stderr


def test_status_metrics_and_keys(daemon: Daemon, public: Call) -> None:
    def said(*arguments: str) -> str:
        done = public(*arguments)
        assert done.returncode == 0
        return done.stdout

    said("preload", "-c", "multiplier")
    assert "was in memory already" in said("preload", "-c", "multiplier")
    shown = said("status")
    assert f"process {pid_of(daemon)}" in shown
    assert "key      multiplier in memory" in shown
    assert json.loads(said("status", "--json"))["own"]["budget_bytes"] == str(256 << 20)
    assert "multiplier: freed" in said("evict", "-c", "multiplier")
    assert "was not in memory" in said("evict", "-c", "multiplier")
    assert "cuzk_reserved_bytes" in said("metrics")


def pid_of(daemon: Daemon) -> int:
    assert daemon.process is not None
    return daemon.process.pid


def test_stress_mixes_circuits_and_ends_with_what_memory_did(
    bench: Call,
    daemon: Daemon,
) -> None:
    mix = ("--mix", "multiplier=5/s", "--mix", "multiplier-bls12381=120/min")
    done = bench("stress", *mix, "--duration", "2s", "--interval", "0.1", "--addr", daemon.address)
    assert done.returncode == 0, done.stderr
    found = results(done)
    assert found["arrivals"] == found["proofs_succeeded"] > 2
    assert {each["circuit"] for each in found["proofs"]} == {"multiplier", "multiplier-bls12381"}
    assert found["rss_growth"] is not None
    assert "by a straight line" in done.stdout


def test_stress_leaves_out_what_comes_beyond_its_limit(
    bench: Call,
    daemon: Daemon,
) -> None:
    few = ("--mix", "multiplier=200/s", "--duration", "1s", "--most-open", "2", "--addr", daemon.address)
    found = results(done := bench("stress", *few))
    assert found["left_out"] > 0
    assert found["arrivals"] == found["left_out"] + found["proofs_succeeded"]
    assert "were left out" in done.stderr


def test_a_silent_hang_is_asked_about_and_ends_at_the_timeout_with_a_diagnosis(
    bench: Call,
    daemon: Daemon,
) -> None:
    process = psutil.Process(pid_of(daemon))
    arguments = ("-t", "multiplier", "-c", "100000", "--silence", "0.5", "--timeout", "4")
    running = subprocess.Popen(
        [CUZK, "bench", "batch", "--addr", daemon.address, *arguments],
        env=environment(daemon), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("run "):
            break
    time.sleep(0.5)
    process.suspend()
    try:
        _, told = running.communicate(timeout=60)
    finally:
        process.resume()
    assert running.returncode == 3
    assert "asking the daemon why" in told
    assert "its process lives" in told
    assert "threads (" in told
    folder = max((daemon.home / "bench").iterdir(), key=lambda each: each.name)
    diagnosis = (folder / "diagnosis.txt").read_text()
    assert diagnosis.startswith("not done within 4 s: ")
    assert f"log: {daemon.log}" in diagnosis
    assert json.loads((folder / "results.json").read_text())["state"] == "failed"
    bench("batch", "--addr", daemon.address, "-t", "multiplier", "-c", "1")  # it goes on


def test_ctrl_c_cancels_what_was_submitted(
    bench: Call,
    daemon: Daemon,
) -> None:
    running = subprocess.Popen(
        [CUZK, "bench", "batch", "--addr", daemon.address, "-t", "multiplier", "-c", "100000", "-j", "50"],
        env=environment(daemon), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("run "):
            break
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "cancelled 50 of 50 open proofs" in told
    assert re.search(r"\d+ of 100000 proofs in .*\n\d+ failed, \d+ cancelled", told)
    status = json.loads(bench("status", "--json", "--addr", daemon.address).stdout)["own"]
    assert status["waiting"] == status["running"] == 0
    folder = max((daemon.home / "bench").iterdir(), key=lambda each: each.name)
    assert json.loads((folder / "results.json").read_text())["state"] == "cancelled"


def test_an_old_error_log_is_never_read_as_the_new_run_s(
    bench: Call,
    daemon: Daemon,
) -> None:
    old = bench("batch", "--addr", daemon.address, "-t", "multiplier", "-c", 1, "--inputs", OTHERS_INPUT)
    assert old.returncode == 1
    new = bench("batch", "--addr", daemon.address, "-t", "multiplier", "-c", 1)
    assert new.returncode == 0
    assert folder_of(new) != folder_of(old)
    assert "failed" in (folder_of(old) / "log.txt").read_text()
    assert "failed" not in (folder_of(new) / "log.txt").read_text()
    assert results(new)["run_id"] == folder_of(new).name


def test_a_bench_whose_output_head_closes_goes_on_to_its_end(daemon: Daemon) -> None:
    command = f"{CUZK} bench batch --addr {daemon.address} -t multiplier -c 20 -j 2 2>&1 | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command + "; echo ${PIPESTATUS[0]}"], env=environment(daemon), capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0"
    folder = max((daemon.home / "bench").iterdir(), key=lambda each: each.name)
    assert json.loads((folder / "results.json").read_text())["proofs_succeeded"] == 20


def test_spawn_starts_a_daemon_for_the_run_and_leaves_none(daemon: Daemon, tmp_path: Path) -> None:
    settings = tmp_path / "cuzk.toml"
    settings.write_text((daemon.home / "cuzk.toml").read_text())
    spawning = ["bench", "batch", "--spawn", "-t", "multiplier", "-c", "2", "--budget", "64MiB"]
    env = {**os.environ, "CUZK_HOME": str(tmp_path), "CUZK_CONFIG": str(settings)}
    done = subprocess.run(
        [CUZK, *spawning], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "budget   64MiB" in done.stderr
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("starting a daemon")]
    assert not psutil.pid_exists(int(line.split()[-1]))
    assert results(done)["proofs_succeeded"] == 2


def test_spawn_beside_the_host_s_daemon_has_jobs_of_its_own_and_leaves_none(
    bench: Call, daemon: Daemon
) -> None:
    done = bench("batch", "--spawn", "-t", "multiplier", "-c", "2")
    assert done.returncode == 0, done.stderr
    assert results(done)["proofs_succeeded"] == 2
    with sqlite3.connect(daemon.home / "history.db") as history:
        owners = {owner for (owner,) in history.execute("select owner from job")}
    assert len(owners) <= 1  # the host's daemon's
