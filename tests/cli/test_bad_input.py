"""Whatever a user mistypes or damages is refused in one line, with status 2 and nothing written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import examples
from tests.cli.conftest import CUZK, Cuzk, refused

BUNDLED = examples.CIRCUITS["multiplier"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["prvoe"], "did you mean 'prove'"),
        (["bench", "batch", "--proof-type", "merkle"], "did you mean '--type'"),
        (["bench", "batch", "--type", "merkel"], "did you mean 'merkle'"),
        (["sim", "run", "--type", "merkel"], "did you mean 'merkle'"),
        (["bench", "batch"], "missing option '--type'"),
        (["bench", "batch", "-t", "merkle", "--count", "0"], "--count"),
        (["bench", "batch", "-t", "merkle", "--count", "three"], "--count"),
        (["bench", "batch", "-t", "merkle", "--budget", "2 gallons"], "budget"),
        (["bench", "batch", "-t", "multiplier", "--budget", "1KiB"], "budget"),
        (["sim", "run", "-t", "multiplier", "--budget", "1KiB"], "budget"),
        (["bench", "batch", "-t", "merkle", "--config", "no.toml"], "no.toml"),
        (["history", "show", "nothing"], "no run begins so"),
        (["verify", "vk.json", "public.json"], "missing argument 'proof.json'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused_options(cuzk: Cuzk, tmp_path: Path, arguments: list[str], said: str) -> None:
    assert said in refused(cuzk(*arguments, cwd=tmp_path)).lower()


@pytest.mark.parametrize("command", ["prove", "setup", "vkey", "verify"])
@pytest.mark.parametrize("content", [None, b"", b"not a file of ours\n", "truncated"])
def test_refused_files(cuzk: Cuzk, tmp_path: Path, command: str, content: bytes | str | None) -> None:
    bad = tmp_path / "bad"
    if content == "truncated":
        content = BUNDLED.r1cs.read_bytes()[:-40]
    if isinstance(content, bytes):
        bad.write_bytes(content)
    options = {
        "prove": [bad, BUNDLED.inputs, "--wasm", BUNDLED.wasm],
        "setup": [bad, "-o", tmp_path / "c.zkey"],
        "vkey": [bad],
        "verify": [bad, bad, bad],
    }[command]
    assert str(bad) in refused(cuzk(command, *options, cwd=tmp_path))
    assert [path for path in tmp_path.iterdir() if path != bad] == []


def test_unwritable_output(cuzk: Cuzk, tmp_path: Path) -> None:
    target = tmp_path / "no" / "folder" / "c.zkey"
    assert str(target) in refused(cuzk("setup", BUNDLED.r1cs, "-o", target))


def test_unknown_setting(cuzk: Cuzk, tmp_path: Path) -> None:
    (tmp_path / "cuzk.toml").write_text("[memory]\ntotal_bugdet = '2GiB'\n")
    assert "did you mean 'memory.total_budget'" in refused(
        cuzk("bench", "batch", "-t", "merkle", cwd=tmp_path)
    )


def test_help_of_every_command(cuzk: Cuzk) -> None:
    for command in (
        "",
        "prove",
        "verify",
        "setup",
        "vkey",
        "bench batch",
        "sim run",
        "history",
        "history show",
        "ui",
    ):
        done = cuzk(*command.split(), "--help")
        assert done.returncode == 0
        assert done.stdout.startswith("Usage: cuzk")
        assert done.stderr == ""


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{CUZK} --help | head -n 1", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
