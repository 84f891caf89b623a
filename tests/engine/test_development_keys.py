"""Keys of bundled circuits: made once, whole or not at all, also where two processes come at once."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from config import Config, SrsConfig
from engine import CircuitSpec, EngineError, development_keys, prepare
from engine.circuit import open_circuit
from groth16.errors import InputError
from groth16.zkey import read_header
from kernels.parallel import serial
from tests.engine.support import ROOT

MAKE_KEY = """
import sys
from pathlib import Path
from config import Config, SrsConfig
from engine import prepare, resolve
prepare(resolve("multiplier", Config(srs=SrsConfig(param_cache=Path(sys.argv[1])))), print)
"""


def spec_in(folder: Path) -> CircuitSpec:
    return engine.resolve("multiplier", Config(srs=SrsConfig(param_cache=folder)))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_key_is_made_once_and_then_kept(tmp_path: Path) -> None:
    spec, told = spec_in(tmp_path / "new" / "folder"), list[str]()

    def tell(line: str) -> None:
        if "compiling" not in line:  # which depends on what ran before
            told.append(line)

    prepare(spec, tell)
    assert [line.split(",")[0].split(" in ")[0] for line in told] == [
        "making a development key for multiplier",
        "development key",
    ]
    assert read_header(spec.zkey).n_public == 1
    before = spec.zkey.stat().st_mtime_ns
    prepare(spec, tell)
    assert len(told) == 2
    assert spec.zkey.stat().st_mtime_ns == before
    assert files(spec.zkey.parent) == [spec.zkey.name]


def test_two_processes_at_once_use_the_same_key(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAKE_KEY, str(tmp_path)]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [each.communicate(timeout=120)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert sum("making a development key" in text for text in told) == 1
    assert files(tmp_path) == [spec_in(tmp_path).zkey.name]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    spec = spec_in(tmp_path)
    (tmp_path / f".{spec.zkey.name}.0123.tmp").write_bytes(b"half a key")
    prepare(spec, lambda _: None)
    assert files(tmp_path) == [spec.zkey.name]


def test_a_failing_setup_leaves_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(development_keys, "setup", fail)
    with pytest.raises(EngineError, match=r"cannot keep the key of multiplier there \(No space left"):
        prepare(spec_in(tmp_path), lambda _: None)
    assert files(tmp_path) == []


@pytest.mark.parametrize("damage", ["cut short", "emptied", "overwritten"])
def test_a_damaged_key_is_made_again_and_said_so(tmp_path: Path, damage: str) -> None:
    spec, told = spec_in(tmp_path), list[str]()
    prepare(spec, told.append)
    whole = spec.zkey.read_bytes()
    damaged = {"cut short": whole[:-1], "emptied": b"", "overwritten": bytes(200) + whole[200:]}
    spec.zkey.write_bytes(damaged[damage])
    del told[:]
    prepare(spec, told.append)
    assert told[0] == f"the development key {spec.zkey} is damaged; making it again"
    assert read_header(spec.zkey).file_bytes == len(whole)
    assert files(tmp_path) == [spec.zkey.name]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_made_again(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(spec_in(tmp_path).zkey)
    with pytest.raises(EngineError, match=r"key of multiplier there \(multiplier\S+ is no regular file\)"):
        prepare(spec_in(tmp_path), lambda _: None)


@pytest.mark.parametrize("development", [True, False])
def test_damage_that_only_the_points_show_is_told_with_what_to_do(tmp_path: Path, development: bool) -> None:
    spec = spec_in(tmp_path)
    prepare(spec, lambda _: None)
    points = read_header(spec.zkey).container.sections[5]
    with spec.zkey.open("r+b") as file:
        file.seek(points.offset_bytes)
        file.write(b"\1")
    prepare(spec, lambda line: pytest.fail(line))
    spec = replace(spec, development=development)
    opened = open_circuit(spec)
    with pytest.raises(
        (EngineError, InputError), match=r"section 5 \(A points\) has a point 0 that is not on"
    ) as caught:
        opened.loaders[opened.srs_key](serial, True)
    remedy = f"; delete {spec.zkey}, and the next run makes it again"
    assert str(caught.value).endswith(remedy) == development


def test_circuits_of_the_user_are_left_alone(tmp_path: Path) -> None:
    prepare(replace(spec_in(tmp_path), development=False), lambda _: None)
    assert list(tmp_path.iterdir()) == []
