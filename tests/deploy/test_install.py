"""`make install`: what runs from the installation before is not touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAND_IN = """#!/bin/bash
# Takes Python's place, but installs nothing; FAILS: with pip.
case "$*" in
  "-m venv"*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip"*) test -z "${FAILS:-}" ;;
  *) exec "%s" "$@" ;;
esac
"""


def make(folder: Path, **environment: str) -> int:
    """Its status."""
    stand_in = folder / "python"
    stand_in.write_text(STAND_IN % sys.executable)
    stand_in.chmod(0o755)
    told = {**os.environ, "PYTHON": str(stand_in), **environment}
    done = subprocess.run(
        ["make", "install"], cwd=folder, env=told, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode


def changed(folder: Path) -> None:
    """Another version of what is to be installed."""
    for path in folder.glob(".venv/installed-*"):
        path.unlink()


def test_an_installation_takes_the_place_of_the_one_before_which_stays_whole(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    link = tmp_path / ".venv"
    link.mkdir()  # as an earlier version made it
    (link / "in use").touch()
    assert make(tmp_path) == 0
    first = link.resolve()
    assert link.is_symlink()
    assert len(list((tmp_path / ".venvs").glob("*/in use"))) == 1
    changed(tmp_path)
    assert make(tmp_path, FAILS="yes") != 0
    assert link.resolve() == first  # nothing is half installed
    assert make(tmp_path) == 0
    second = link.resolve()
    assert second != first
    assert sorted((tmp_path / ".venvs").iterdir()) == [first, second]
    assert (first / "bin" / "python").exists()
    assert make(tmp_path) == 0
    assert link.resolve() == second  # there was nothing to do
