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


@pytest.mark.parametrize(
    ("installed", "names", "options"),
    [
        ("/opt/cuzk/current/.venv/bin/cuzk-daemon", ["cuzk-daemon"], []),
        ("%h/cuzk/.venv/bin/cuzk", ["cuzk-ui", "cuzk-serve"], ["--user"]),
    ],
)
def test_units_are_such_that_systemd_takes_them_without_a_word(
    installed: str, names: list[str], options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # which a user's units are looked up in
    units = [tmp_path / f"{name}.service" for name in names]
    for unit in units:
        text = (FOLDER / unit.name).read_text()
        assert installed in text
        unit.write_text(text.replace(installed, str(Path(sys.executable).with_name(Path(installed).name))))
    assert checked("systemd-analyze", "verify", *options, *units) == ""


def test_the_server_is_no_part_of_the_unit_that_serves() -> None:
    """Systemd ends what is left of a command before the next one, and after the last."""
    ui, serve = ((FOLDER / f"cuzk-{name}.service").read_text().splitlines() for name in ("ui", "serve"))
    assert {"Type=oneshot", "RemainAfterExit=yes"} <= set(ui)
    assert {"Requires=cuzk-ui.service", "After=cuzk-ui.service"} <= set(serve)
    assert "KillMode=process" in serve, "runs would be told to end twice, which ends them at once"
    commands = [line.split()[1:] for line in serve if line.startswith("Exec")]
    assert commands == [["serve"]]
