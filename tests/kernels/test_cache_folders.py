"""Kernels of versions that nobody uses any more are removed, and none that somebody uses or may use soon."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernels import cache_folders
from kernels.cache_folders import MARK, UNUSED_FOR_S, remove_unused, use

LONG_AGO_S = time.time() - UNUSED_FOR_S - 100
USER = """
import sys
from pathlib import Path
from kernels.cache_folders import use
use(Path(sys.argv[1]))
print(flush=True)
sys.stdin.read()
"""


def made(parent: Path, digit: str, at_s: float, marked: bool = True) -> Path:
    path = parent / f"numba-{digit * 16}"
    (path / "sub").mkdir(parents=True)
    names = ("sub/a.nbi", *([MARK] if marked else []))
    for name in names:
        (path / name).write_text("x")
    for each in (*(path / name for name in names), path / "sub", path):
        os.utime(each, (at_s, at_s))
    return path


@pytest.fixture(autouse=True)
def _no_marks_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_folders, "_marks", [])


def test_what_was_not_used_for_long_goes_when_a_new_folder_is_made(tmp_path: Path) -> None:
    old = [made(tmp_path, "a", LONG_AGO_S), made(tmp_path, "b", LONG_AGO_S, marked=False)]
    young = made(tmp_path, "c", time.time() - 86_400)
    others = [tmp_path / "numba-something", tmp_path / "history.db"]
    for path in others:
        path.mkdir()
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    own = tmp_path / ("numba-" + "0" * 16)
    use(own)
    assert sorted(tmp_path.iterdir()) == sorted([own, young, *others])
    assert not any(path.exists() for path in old)
    made(tmp_path, "d", LONG_AGO_S)
    use(own)  # as each start does, which has better to do
    assert (tmp_path / f"numba-{'d' * 16}").exists()


def test_what_a_process_uses_stays_however_long_it_has(tmp_path: Path) -> None:
    path = made(tmp_path, "a", LONG_AGO_S)
    with subprocess.Popen(
        [sys.executable, "-c", USER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as user:
        assert user.stdout is not None
        user.stdout.readline()
        for each in (path / MARK, path):
            os.utime(each, (LONG_AGO_S, LONG_AGO_S))
        assert remove_unused(tmp_path / "own") == []
        assert (path / "sub" / "a.nbi").exists()
        user.communicate()
    assert remove_unused(tmp_path / "own") == [path]
    assert list(tmp_path.iterdir()) == []


def test_a_start_marks_its_folder_as_used_now(tmp_path: Path) -> None:
    path = made(tmp_path, "a", LONG_AGO_S)
    use(path)
    assert (path / MARK).stat().st_mtime > LONG_AGO_S
    assert remove_unused(tmp_path / "own") == []
