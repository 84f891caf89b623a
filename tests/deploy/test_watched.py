"""What watches a daemon from outside: Prometheus's rules and systemd's unit, by their own checks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config import environment

FOLDER = Path(__file__).parents[2] / "deploy"


def checked(*command: str | Path) -> str:
    """What the program says, which must be content. Skipped where it is not installed, but not in CI."""
    if shutil.which(command[0]) is None:
        (pytest.fail if environment("CI") else pytest.skip)(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_each_alert_fires_when_it_is_to_and_not_before() -> None:
    assert "5 rules found" in checked("promtool", "check", "rules", FOLDER / "alerts.yml")
    assert "SUCCESS" in checked("promtool", "test", "rules", FOLDER / "alerts_test.yml")


def test_the_unit_is_one_that_systemd_takes_without_a_word(tmp_path: Path) -> None:
    text = (FOLDER / "cuzk-daemon.service").read_text()
    installed = "/opt/cuzk/current/.venv/bin/cuzk-daemon"
    assert text.count(installed) == 1
    unit = tmp_path / "cuzk-daemon.service"
    unit.write_text(text.replace(installed, str(Path(sys.executable).with_name("cuzk-daemon"))))
    assert checked("systemd-analyze", "verify", unit) == ""
