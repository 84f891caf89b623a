"""A server small enough to start many times."""

from pathlib import Path

import pytest

from flows.server import local as local_server

SMALL_SERVER = Path(__file__).with_name("small_server.py")


@pytest.fixture
def small_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local servers start in a blink, and are no Prefect; locks, processes and addresses are real."""
    monkeypatch.setenv("LOCAL_PROCESS", str(local_server.PROCESS))
    monkeypatch.setattr(local_server, "PROCESS", SMALL_SERVER)
