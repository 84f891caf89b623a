"""Variables that are empty or 0 count as not set; folders follow CUZK_HOME, then XDG, then the home."""

from pathlib import Path

import pytest

from config import ConfigError, environment, history_url, home
from config.environment import history_file


@pytest.mark.parametrize("value", ["", "0", "  "])
def test_empty_and_zero_are_not_taken_for_a_setting(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    for name in ("CUZK_HOME", "XDG_STATE_HOME", "CUZK_HISTORY_URL"):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/home/someone")
    assert environment("CUZK_HOME") is None
    assert home() == Path("/home/someone/.local/state/cuzk")
    assert history_url(None) == "/home/someone/.local/state/cuzk/history.db"


def test_cuzk_home_comes_before_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    monkeypatch.delenv("CUZK_HOME", raising=False)
    assert home() == Path("/var/state/cuzk")
    monkeypatch.setenv("CUZK_HOME", "/srv/cuzk")
    assert home() == Path("/srv/cuzk")


def test_home_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUZK_HOME", "here")
    assert home() == tmp_path / "here"


def test_a_relative_xdg_folder_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUZK_HOME", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", "/home/someone")
    assert home() == Path("/home/someone/.local/state/cuzk")


@pytest.mark.parametrize("variable", ["CUZK_HOME", "XDG_STATE_HOME"])
@pytest.mark.parametrize("below", ["", "/folder"])
def test_a_file_in_place_of_the_folder_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, below: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("CUZK_HOME", raising=False)
    monkeypatch.setenv(variable, f"{tmp_path}/file{below}")
    with pytest.raises(ConfigError, match=f"^{variable}={tmp_path}/file{below}: {tmp_path}/file is a file"):
        home()


def test_the_file_comes_before_the_variable_for_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUZK_HISTORY_URL", "postgresql://db/cuzk")
    assert history_url(None) == "postgresql://db/cuzk"
    assert history_url("/srv/history.db") == "/srv/history.db"


def test_a_history_is_a_file_or_a_servers() -> None:
    assert history_file("/var/h.db") == history_file("sqlite:////var/h.db") == Path("/var/h.db")
    assert history_file("postgresql://prover@host/cuzk") is None
