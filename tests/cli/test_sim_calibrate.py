"""`cuzk sim calibrate`, `validate` and `replay` on recorded runs of real batches and on published figures."""

from __future__ import annotations

import gzip
import json
import os
import tomllib
from pathlib import Path

import pytest

from db import open_history, read_lines, write_rows
from tests.cli.conftest import Cuzk

DATA = Path(__file__).parents[1] / "sim" / "data" / "batches_on_two_cores.jsonl.gz"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    lines = folder / "runs.jsonl"
    lines.write_bytes(gzip.decompress(DATA.read_bytes()))
    with open_history(folder / "history.db") as history:
        write_rows(history, read_lines(lines))
    return folder


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "CUZK_HOME": str(home)}


def run_ids(home: Path) -> dict[str, str]:
    """The first run of each batch."""
    from db import list_runs

    with open_history(home / "history.db") as history:
        return {each.run.name: each.run.id for each in list_runs(history, 100)}


def test_a_profile_is_learned_from_a_run_and_predicts_another(cuzk: Cuzk, home: Path, tmp_path: Path) -> None:
    ids, file = run_ids(home), tmp_path / "machine.toml"
    made = cuzk("sim", "calibrate", ids["learned"], ids["learned"], "-o", file, env=environment(home))
    assert made.returncode == 0, made.stderr
    assert f"learning from {ids['learned']}\n" in made.stderr  # once, although it is named twice
    assert "thin: merkle: load was seen once" in made.stderr
    profile = tomllib.loads(file.read_text())
    assert set(profile["circuits"]) == {"merkle", "dense-2^17"}
    assert profile["cores"]["count"] == 2
    compared = cuzk("sim", "validate", ids["other counts"], "-m", file, "--json", env=environment(home))
    assert compared.returncode == 0, compared.stderr
    figures = {each["name"]: each for each in json.loads(compared.stdout)["figures"]}
    assert figures["makespan_s"]["worst"] < 0.25  # one run against one
    assert figures["peak_rss_bytes"]["worst"] < 0.1
    table = cuzk("sim", "validate", ids["other counts"], "-m", file, env=environment(home))
    assert "makespan_s" in table.stdout


def test_why_no_run_can_be_learned_from_is_told(cuzk: Cuzk, tmp_path: Path) -> None:
    """Here none has its log."""
    lines = gzip.decompress(DATA.read_bytes()).decode().splitlines()
    kept = [line for line in lines if '"policy_log"' not in line]
    _, runs, _ = json.loads(kept.pop())
    kept.append(f'["end",{runs},{len(kept) - 1}]')
    (tmp_path / "runs.jsonl").write_text("\n".join(kept) + "\n")
    with open_history(tmp_path / "history.db") as history:
        write_rows(history, read_lines(tmp_path / "runs.jsonl"))
    made = cuzk("sim", "calibrate", "-o", tmp_path / "machine.toml", env=environment(tmp_path))
    assert made.returncode == 2
    assert "the history has no real run in which all went well (run " in made.stderr


def test_recorded_runs_replay_and_another_policy_would_not(cuzk: Cuzk, home: Path) -> None:
    ids = run_ids(home)
    replayed = cuzk("sim", "replay", ids["learned"], ids["a small budget"], env=environment(home))
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.stdout.count("all as recorded") == 2


def test_published_rows_are_compared(cuzk: Cuzk, home: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(
        "proofs,concurrency,partition_workers,gpu_workers,seconds_per_proof,peak_rss_gib\n5,5,1,1,290.0,104\n"
    )
    machine = "zen4-96-core-rtx5070ti-755gib"
    compared = cuzk("sim", "validate", "--table", rows, "-m", machine, "--json", env=environment(home))
    assert compared.returncode == 0, compared.stderr
    (row,) = json.loads(compared.stdout)
    assert abs(row["errors"]["seconds_per_proof"]) < 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("calibrate", "ffff", "-o", "m.toml"), "no run begins so"),
        (("validate", "-m", "defualt"), "did you mean 'default'?"),
        (("replay", "ffff"), "no run begins so"),
        (("validate", "-m", "default", "--table", "none.json"), "none.json"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    cuzk: Cuzk, home: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    refused = cuzk("sim", *arguments, env=environment(home), cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_profile_without_the_circuit_says_so(cuzk: Cuzk, home: Path) -> None:
    refused = cuzk("sim", "validate", run_ids(home)["learned"], "-m", "default", env=environment(home))
    assert refused.returncode == 2
    assert "no times of circuit merkle" in refused.stderr


@pytest.mark.parametrize("command", ["calibrate", "validate"])
def test_nothing_is_learned_from_a_simulation(cuzk: Cuzk, tmp_path: Path, command: str) -> None:
    own = environment(tmp_path / "home")
    batch = ("-t", "winning-32g", "-c", "1", "--seeds", "1", "-m", "zen4-96-core-rtx5070ti-755gib")
    made = cuzk("sim", "run", *batch, env=own)
    assert made.returncode == 0, made.stderr
    run = made.stdout.split()[-1]
    options = ("-o", tmp_path / "m.toml") if command == "calibrate" else ("-m", "default")
    refused = cuzk("sim", command, run, *options, env=own)
    assert refused.returncode == 2
    assert f"run {run} was simulated" in refused.stderr
    assert not (tmp_path / "m.toml").exists()
