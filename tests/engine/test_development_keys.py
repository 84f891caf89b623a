"""Keys of bundled circuits: made once, whole or not at all, also where two processes come at once."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from config import Config, SrsConfig
from engine import CircuitSpec, EngineError, development_keys, prepare
from groth16.zkey import read_header
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
    prepare(spec, told.append)
    assert [line.split(",")[0].split(" in ")[0] for line in told] == [
        "making a development key for multiplier",
        "development key",
    ]
    assert read_header(spec.zkey).n_public == 1
    before = spec.zkey.stat().st_mtime_ns
    prepare(spec, told.append)
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


def test_circuits_of_the_user_are_left_alone(tmp_path: Path) -> None:
    prepare(replace(spec_in(tmp_path), development=False), lambda _: None)
    assert list(tmp_path.iterdir()) == []
