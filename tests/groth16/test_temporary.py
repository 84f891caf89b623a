"""What a killed writer leaves is removed, and never what a living one makes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groth16.output import replacing
from groth16.temporary import create, remove_leftovers
from tests.groth16.samples import ROOT

WRITE_FOR_EVER = """
import sys, time
from groth16.output import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """Another process in the middle of writing the file."""
    command = [sys.executable, "-c", WRITE_FOR_EVER, str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def test_what_a_killed_writer_left_goes_and_a_living_ones_stays(tmp_path: Path) -> None:
    path = tmp_path / "proof[1].json"
    with writer(path) as killed, writer(path) as living:
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.iterdir())) == 2
        with replacing(path) as file:
            file.write(b"whole")
        assert len(list(tmp_path.glob(".*"))) == 1
        assert remove_leftovers(tmp_path) == []
        living.kill()
    assert len(remove_leftovers(tmp_path, "another")) == 0
    assert len(remove_leftovers(tmp_path)) == 1
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"whole"]


def test_what_is_no_file_or_no_temporary_one_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".notes.tmp").touch()
    (tmp_path / "a.b.tmp").touch()
    os.mkfifo(tmp_path / ".pipe.1.tmp")
    (tmp_path / ".folder.1.tmp").mkdir()
    (tmp_path / ".link.1.tmp").symlink_to("a.b.tmp")
    assert remove_leftovers(tmp_path) == remove_leftovers(tmp_path / "missing") == []
    assert len(list(tmp_path.iterdir())) == 5


def test_one_that_is_taken_for_left_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, taken = fcntl.flock, list[list[Path]]()

    def flock(file: Any, operation: int) -> None:
        if not taken:
            taken.append([])
            taken.append(remove_leftovers(tmp_path))
        real(file, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with create(tmp_path / "file") as file:
        assert [len(paths) for paths in taken] == [0, 1]
        assert list(tmp_path.iterdir()) == [Path(file.name)]
