"""`cuzk torture`: its words and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess

import psutil
import pytest
from click.testing import CliRunner

from cli.torture import torture
from tests.cli.conftest import CUZK, Cuzk, refused
from tests.sim.torture.mutants import MUTANTS


def test_one_seed_gives_the_same_log_in_every_process(cuzk: Cuzk) -> None:
    one, other = (
        cuzk("torture", "--seed", 5, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "2")
    )
    assert one.returncode == 0
    assert one.stdout == other.stdout
    assert "no violation; decision log" in one.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sedes", "5"], "did you mean"),
        (["--seeds", "0"], "--seeds"),
        (["--seed", "1", "--partitions", "1000000000000"], "is not in the range"),
        (["--seed", "5", "--seeds", "5"], "leave out --seeds"),
        (["--log"], "--log needs --seed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused_options(cuzk: Cuzk, arguments: list[str], said: str) -> None:
    assert said in refused(cuzk("torture", *arguments)).lower()


def test_a_long_seed_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.words.telling.__wrapped__.__defaults__", (0.02,))
    result = CliRunner().invoke(torture, ["--seed", "1", "--partitions", "3000"])
    assert re.search(r"\d+ events, \d+ partitions admitted of about 3000, no violation", result.output)
    assert result.output.splitlines()[-1].startswith("seed 1: ")


def test_a_violation_is_cut_down_and_told_with_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS["the_budget_is_taken_as_larger"][1](monkeypatch)
    result = CliRunner().invoke(torture, ["--seeds", "40", "--jobs", "1", "--partitions", "40"])
    assert result.exit_code == 1
    assert "bytes are held of a budget of" in result.output
    assert "every event, and what was decided:" in result.output


def test_an_interrupt_ends_it_at_once_with_a_word() -> None:
    command = [str(CUZK), "torture", "--seeds", "1000000", "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "torturing" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        try:
            rest = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert rest[1].endswith("cuzk: interrupted\n")
    assert "Traceback" not in rest[1]


def test_a_killed_command_leaves_no_process() -> None:
    command = [str(CUZK), "torture", "--seeds", "1000000", "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "no violation" not in process.stderr.readline():  # some seeds are done, so both work
            assert process.poll() is None
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    _gone, alive = psutil.wait_procs(children, timeout=60)
    assert len(children) >= 2
    assert alive == []
