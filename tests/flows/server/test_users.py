"""Who uses the server, told to whoever wants it to end."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import cli
from flows.server import users as module
from flows.server.local import local_server
from flows.server.staying import start_to_stay
from flows.server.users import used_by
from tests.flows.support import silent

pytestmark = pytest.mark.usefixtures("small_server")


def test_each_process_that_uses_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert used_by(tmp_path / "none") == ""
    with local_server(tmp_path, silent):
        assert used_by(tmp_path).startswith(f"process {os.getpid()} (")
        monkeypatch.setattr(module, "LOCKS", tmp_path / "a system without it")
        assert used_by(tmp_path) == ""
    monkeypatch.undo()
    assert used_by(tmp_path) == ""


def test_who_stops_a_server_is_told_what_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    server = start_to_stay(tmp_path, None, silent)
    with local_server(tmp_path / "prefect", silent):
        said = [CliRunner().invoke(cli, ["ui", word]).output for word in ("stop", "status")]
    used = f"what uses it has ended: process {os.getpid()} ("
    assert f"the Prefect server at {server.api_url} ends when {used}" in said[0]
    assert f"until {used}" in said[1]
    assert server.local is not None
    assert not server.local.is_alive()
