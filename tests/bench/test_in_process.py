"""`cuzk bench synth`, `pce` and `partitions` on a bundled circuit, and the folders they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import examples
from bench.circuit import opened_circuit
from bench.errors import BenchError
from bench.pce import compare_ways
from config import Config, SrsConfig
from tests.called import Call, caller

CUZK = Path(sys.executable).with_name("cuzk")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def config(tmp_path: Path, params: Path) -> Path:
    """Settings with keys that are made once for all tests."""
    path = tmp_path / "cuzk.toml"
    path.write_text(f'[srs]\nparam_cache = "{params}"\n')
    return path


@pytest.fixture
def bench(
    home: Path, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """`cuzk bench`, in a home of the test's own."""
    return partial(caller(monkeypatch, capsys, home, config), "bench")


def run_folder(home: Path) -> Path:
    (folder,) = (home / "bench").iterdir()
    return folder


def results(home: Path) -> dict[str, Any]:
    """Of the only run there is."""
    found: dict[str, Any] = json.loads((run_folder(home) / "results.json").read_text())
    return found


def test_synth_times_each_step_and_leaves_a_folder(home: Path, config: Path) -> None:
    done = subprocess.run(
        [CUZK, "bench", *["synth", "--type", "multiplier", "--iterations", "2", "--json"]],
        env=os.environ | {"CUZK_HOME": str(home), "CUZK_CONFIG": str(config)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["seconds"]["synthesize"]["count"] == 2
    assert found["seconds"]["witness"]["least_s"] > 0
    folder = run_folder(home)
    assert {each.name for each in folder.iterdir()} == {
        "run.json",
        "log.txt",
        "samples.jsonl",
        "results.json",
        "report.html",
    }
    assert results(home)["state"] == "succeeded"
    plan = json.loads((folder / "run.json").read_text())
    assert plan["run_id"] == folder.name
    assert plan["versions"]["cuzk"]
    assert plan["machine"]["memory_bytes"] > 0
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert samples
    assert all(sample["rss_bytes"] > 0 for sample in samples)
    assert 'src="data:image/png;base64,' in (folder / "report.html").read_text()


@pytest.mark.parametrize("circuit", ["multiplier", "multiplier-bls12381"])
def test_pce_compares_both_ways_value_by_value(bench: Call, home: Path, circuit: str) -> None:
    done = bench("pce", "--type", circuit, "-n", "1", "--save-pce", str(home / "pce"))
    assert done.returncode == 0, done.stderr
    assert "a, b and c are the same in both" in done.stdout
    assert results(home)["result"]["equal"] is True
    assert (home / "pce").stat().st_size > 0


def test_partitions_sweeps_what_fits_and_names_what_does_not(bench: Call, home: Path) -> None:
    sweep = ("--at-once", "1,2,1000,budget", "--partitions", "2", "--budget", "64MiB")
    done = bench("partitions", "--type", "multiplier", *sweep)
    assert done.returncode == 0, done.stderr
    assert "left out: 1000 at once take" in done.stderr
    found = results(home)["result"]
    assert [each["at_once"] for each in found] == [1, 2, None]
    assert all(each["seconds"] > 0 and each["peak_reserved_bytes"] > 0 for each in found)
    assert found[0]["peak_reserved_bytes"] < found[1]["peak_reserved_bytes"]
    proofs = list((run_folder(home) / "proofs").glob("*/1/proof*.json"))
    assert len(proofs) == 6


@pytest.mark.parametrize("command", ["synth", "pce", "partitions"])
def test_proof_type_in_place_of_type_is_refused_with_the_right_name(
    bench: Call, home: Path, command: str
) -> None:
    done = bench(command, "--proof-type", "multiplier")
    assert done.returncode == 2
    assert done.stderr == "cuzk: No such option '--proof-type'. Did you mean '--type'?\n"
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("synth", "-t", "multiplyer"), "did you mean 'multiplier'?"),
        (("synth", "-t", "multiplier", "--inputs", "/nowhere.json"), "/nowhere.json"),
        (("pce", "-t", "multiplier", "--inputs", "/dev/null"), "expected a witness (.wtns)"),
        (("partitions", "-t", "multiplier", "--at-once", "1,all"), "found 'all', expected numbers"),
        (("partitions", "-t", "multiplier", "--at-once", "9", "--budget", "5MiB"), "none of the numbers"),
    ],
)
def test_bad_input_is_one_line(bench: Call, home: Path, arguments: tuple[str, ...], why: str) -> None:
    done = bench(*arguments)
    assert done.returncode == 2
    assert why in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (home / "bench").exists()


def test_pce_without_the_circuit_s_file_says_what_is_missing(params: Path) -> None:
    opened = opened_circuit("multiplier", Config(srs=SrsConfig(param_cache=params)), None, print)
    without = replace(opened, spec=replace(opened.spec, r1cs=None))
    with pytest.raises(BenchError, match=r"set circuits\.multiplier\.r1cs"):
        compare_ways(without, 1, 1, print)


def test_pce_of_a_file_of_another_circuit_is_told(tmp_path: Path, params: Path) -> None:
    opened = opened_circuit("multiplier", Config(srs=SrsConfig(param_cache=params)), None, print)
    r1cs = tmp_path / "other.r1cs"
    written = bytearray(examples.CIRCUITS["multiplier"].r1cs.read_bytes())
    place = written.rindex((1).to_bytes(32, "little"))
    written[place] = 2
    r1cs.write_bytes(written)
    other = replace(opened, spec=replace(opened.spec, r1cs=r1cs))
    with pytest.raises(BenchError, match="differs in row 0"):
        compare_ways(other, 1, 1, print)
