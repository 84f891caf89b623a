"""The flow `history_prune`, without a server: its form, and what its state says."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prefect.logging import disable_run_logger

from db import Run, list_runs, open_history
from flows.history_prune import PruneParameters, history_prune


def pruned(**parameters: Any) -> Any:
    """The state that the flow ends in."""
    with disable_run_logger():
        return asyncio.run(history_prune.fn(PruneParameters(**parameters)))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One in which the settings are nobody's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    monkeypatch.delenv("CUZK_CONFIG", raising=False)
    return tmp_path


def test_the_state_says_how_many_runs_and_what_space(home: Path) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=400)
    with open_history(f"sqlite:///{home / 'history.db'}") as history:
        old = Run(source="real", name="old", code_version="1", state="succeeded", started_at=long_ago)
        with history.writer() as writer:
            writer.insert(old, Run(source="real", name="new", code_version="1", state="succeeded"))
        assert len(list_runs(history)) == 2
    state = pruned(vacuum=True)
    assert state.is_completed()
    words = str(state.message).split("; ")
    assert words[0] == f"deleted 1 run begun before {datetime.now(UTC) - timedelta(days=365):%Y-%m-%d}"
    assert words[1].startswith("it took ")
    assert str(pruned().message).startswith("deleted 0 runs begun before ")


def test_settings_that_cannot_be_read_fail_the_run_in_a_line(home: Path) -> None:
    state = pruned(config=home / "none.toml")
    assert state.is_failed()
    assert "none.toml" in str(state.message)


def test_the_form_tells_what_it_is_and_has_no_choice_of_null() -> None:
    schema = PruneParameters.model_json_schema()
    assert "deleted" in schema["description"]
    assert not [name for name, each in schema["properties"].items() if "anyOf" in each]
