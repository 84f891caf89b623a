"""`cuzk history` where there is nothing yet: it says so and makes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from db import Run, open_history
from tests.cli.conftest import Cuzk, refused, succeed


@pytest.fixture
def environment() -> dict[str, str]:
    """A home that is named relative to the working folder, and is not there."""
    return {**os.environ, "CUZK_HOME": "home"}


def test_listing_nothing_makes_nothing(cuzk: Cuzk, tmp_path: Path, environment: dict[str, str]) -> None:
    said = succeed(cuzk("history", cwd=tmp_path, env=environment))
    assert said == f"no runs yet in {tmp_path}/home/history.db; try: cuzk bench batch --type merkle\n"
    assert list(tmp_path.iterdir()) == []


def test_showing_a_run_of_nothing_makes_no_history(
    cuzk: Cuzk, tmp_path: Path, environment: dict[str, str]
) -> None:
    line = refused(cuzk("history", "show", "01", cwd=tmp_path, env=environment))
    assert f"no runs yet in {tmp_path}/home/history.db; try: " in line
    assert list(tmp_path.rglob("*.db*")) == []


def test_a_piped_table_has_no_blanks_around_it(
    cuzk: Cuzk, tmp_path: Path, environment: dict[str, str]
) -> None:
    with open_history(tmp_path / "home/history.db") as history, history.writer() as writer:
        writer.insert(run := Run(source="sim", name="x", code_version="1", state="succeeded"))
    for arguments in (["history"], ["history", "show", run.id]):
        lines = succeed(cuzk(*arguments, cwd=tmp_path, env=environment)).splitlines()
        assert lines[0]
        assert [line for line in lines if line != line.rstrip()] == []
    assert "a run's id" in refused(cuzk("history", "show", "", cwd=tmp_path, env=environment))
