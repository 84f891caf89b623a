"""Hosts that do not serve are refused before anything is started."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from config import ConfigError
from flows import launch
from flows.launch import run_batch
from flows.parameters.batch import BatchParameters
from flows.server.chosen import API_URL
from flows.spread.known import DEPLOYMENT, refuse_where_none_serves


class Prefect(BaseHTTPRequestHandler):
    """Answers as the server that has these deployments, and a pool with these queues; or with a status."""

    deployments: ClassVar[dict[str, object]] = {DEPLOYMENT: {"work_pool_name": "cuzk"}}
    queues: ClassVar[list[str]] = ["default", "host-1"]
    status: int | None = None

    def do_GET(self) -> None:
        self._answer(self.deployments.get(self.path.removeprefix("/api/deployments/name/")))

    def do_POST(self) -> None:
        assert self.path == "/api/work_pools/cuzk/queues/filter"
        self._answer([{"name": each} for each in self.queues])

    def _answer(self, found: object) -> None:
        self.send_response(self.status or (404 if found is None else 200))
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, *_: object) -> None:
        """Nothing to say."""


@pytest.fixture
def api_url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Prefect) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()


def test_a_batch_for_a_host_that_does_not_serve_starts_nothing(
    api_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    monkeypatch.setattr(launch, "prefect_server", lambda *_: pytest.fail("a server was started"))
    monkeypatch.setenv(API_URL, api_url)
    output = tmp_path / "proofs"
    batch = BatchParameters(circuit="merkle", hosts=["hots-1"], output=output)
    with pytest.raises(
        ConfigError, match=r"^hosts: no host serves the queue 'hots-1'; did you mean 'host-1'\?$"
    ):
        run_batch(batch, print)
    monkeypatch.delenv(API_URL)
    with pytest.raises(ConfigError, match=r"^hosts: no Prefect server runs here, so no host serves; start "):
        run_batch(batch, print)
    assert not output.exists()


def test_where_nothing_is_deployed_that_is_said(api_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_where_none_serves(["host-1"], api_url)
    monkeypatch.setattr(Prefect, "deployments", {})
    with pytest.raises(ConfigError, match=f"no deployment {DEPLOYMENT}; run `cuzk deploy`"):
        refuse_where_none_serves(["host-1"], api_url)


def test_what_a_server_does_not_tell_is_left_to_prefect(
    api_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the password, and says itself that a server is away."""
    monkeypatch.setattr(Prefect, "status", 401)
    refuse_where_none_serves(["hots-1"], api_url)
    refuse_where_none_serves(["hots-1"], "http://127.0.0.1:1/api")
