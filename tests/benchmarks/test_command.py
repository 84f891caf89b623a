"""`python -m benchmarks` at the door."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.results import Result
from benchmarks.run import SUITES
from engine.gpus import visible_gpus

ROOT = Path(__file__).parents[2]


def benchmarks(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--onyl", "msm"], "--only"),
        (["--only", "mms"], "'msm'"),
        (["--curve", "bn128"], "bn254"),
        (["--sizes", "18,x"], "powers of two"),
        (["--circuits", "dense"], "KIND:CONSTRAINTS"),
        (["--threads", "4096"], "this process may use"),
        (["report", "no-such.json"], "no-such.json: is no result"),
        (["report"], "RESULTS"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(arguments: list[str], words: str) -> None:
    done = benchmarks(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("benchmarks: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.skipif(bool(visible_gpus().found), reason="there is a GPU")
def test_without_a_gpu_its_suites_say_why_and_measure_nothing(tmp_path: Path) -> None:
    suites = [part for name in SUITES if name.startswith("gpu-") for part in ("--only", name)]
    done = benchmarks(*suites, "--threads", "1", "--work", tmp_path / "work", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("without cuzk, GPU: ")
    assert "pip install -e '.[gpu]'" in line
    assert Result.read(tmp_path / "out/result.json").measurements == []


def test_a_small_run_writes_its_result(tmp_path: Path) -> None:
    folders = ["--work", tmp_path / "work", "--out", tmp_path / "out"]
    done = benchmarks("--only", "pairing", "--curve", "bn254", "--quick", "--threads", "1", *folders)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "out/result.json")
    assert "pairing bn254 4: cuzk" in done.stderr
