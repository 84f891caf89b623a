"""The installed `cuzk`, run as a user runs it, and a small circuit's files for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import examples

Cuzk = Callable[..., "subprocess.CompletedProcess[str]"]
PROGRESS = (
    "compiling ",
    "making a development key",
    "still making the key",
    "development key in",
    "preparing to simulate",
    "simulating",
    "starting a Prefect server",
    "loading Prefect",
)
CUZK = Path(sys.executable).with_name("cuzk")


@pytest.fixture(scope="session")
def cuzk() -> Cuzk:
    """Run `cuzk` with these arguments; `cwd` and `env` as for subprocess.run."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [str(CUZK), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)  # type: ignore[call-overload]  # options are the caller's

    return run


@dataclass(frozen=True)
class Files:
    """What the commands made of the bundled multiplier on one curve."""

    r1cs: Path
    wasm: Path
    inputs: Path
    zkey: Path
    vkey: Path
    proof: Path
    public: Path


@pytest.fixture(scope="session", params=["multiplier", "multiplier-bls12381"])
def files(request: pytest.FixtureRequest, cuzk: Cuzk, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """setup, vkey and prove, each by its command."""
    bundled, folder = examples.CIRCUITS[request.param], tmp_path_factory.mktemp(request.param)
    made = Files(
        bundled.r1cs,
        bundled.wasm,
        bundled.inputs,
        *(folder / name for name in ("circuit.zkey", "vk.json", "proof.json", "public.json")),
    )
    succeed(cuzk("setup", made.r1cs, "-o", made.zkey))
    succeed(cuzk("vkey", made.zkey, "-o", made.vkey))
    succeed(cuzk("prove", made.zkey, made.inputs, made.proof, made.public, "--wasm", made.wasm))
    return made


def succeed(done: subprocess.CompletedProcess[str]) -> str:
    """What it printed; the test fails with what it complained of."""
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line with which it refused what it was given; status 2, nothing on stdout."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stdout == ""
    *progress, last = done.stderr.splitlines()
    assert last.startswith("cuzk: "), done.stderr
    assert all(line.startswith(PROGRESS) for line in progress), done.stderr
    return last


def edited(path: Path, target: Path, edit: Callable[[object], None]) -> Path:
    """A copy of a JSON file with something changed in it."""
    value = json.loads(path.read_text())
    edit(value)
    target.write_text(json.dumps(value))
    return target
