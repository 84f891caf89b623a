"""The server that stays until it is told to end."""

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from flows.errors import ServerError
from flows.server import staying as module
from flows.server.chosen import API_URL, Server, how_to_tune, prefect_server
from flows.server.local import TUNING, kept_alive, local_server, running_server
from flows.server.staying import end_stay, start_to_stay, staying_server
from tests.flows.support import eventually, silent

pytestmark = pytest.mark.usefixtures("small_server")


@pytest.fixture
def stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that stays, at whatever port; it is gone after the test."""
    monkeypatch.setattr(module, "USUAL_PORT", module.free_port())
    yield start_to_stay(tmp_path, None, silent)
    if staying_server(tmp_path):
        end_stay(tmp_path, silent)


def test_it_stays_when_nobody_uses_it_until_it_is_told_to_end(stays: Server, tmp_path: Path) -> None:
    assert stays.local is not None
    assert stays.local.port == module.USUAL_PORT
    time.sleep(2.5)  # twice as long as it takes to notice that nobody is left
    assert staying_server(tmp_path) is not None
    assert end_stay(tmp_path, silent).pid == stays.local.pid
    assert not stays.local.is_alive()
    with pytest.raises(ServerError, match="nothing is to be stopped"):
        end_stay(tmp_path, silent)


def test_a_second_start_finds_it_and_batches_leave_it_be(stays: Server, tmp_path: Path) -> None:
    with prefect_server(tmp_path, silent) as used:
        assert used.api_url == stays.api_url
    assert stays.local is not None
    assert stays.local.is_alive()
    assert start_to_stay(tmp_path, None, silent).api_url == stays.api_url


def test_what_a_batch_has_started_can_be_made_to_stay(tmp_path: Path) -> None:
    with local_server(tmp_path / "prefect", silent) as server:
        assert start_to_stay(tmp_path, None, silent).api_url == server.api_url
    assert server.is_alive()
    end_stay(tmp_path, silent)
    assert not server.is_alive()


def test_who_uses_it_when_it_is_told_to_end_may_finish(stays: Server, tmp_path: Path) -> None:
    assert stays.local is not None
    with local_server(tmp_path / "prefect", silent):
        end_stay(tmp_path, silent)
        assert stays.local.is_alive()
    assert not stays.local.is_alive()


def test_one_that_is_started_again_stays_as_well(stays: Server, tmp_path: Path) -> None:
    assert stays.local is not None
    with local_server(tmp_path / "prefect", silent), kept_alive(stays.local, silent):
        os.kill(pid := stays.local.pid, signal.SIGKILL)
        assert eventually(lambda: (again := staying_server(tmp_path)) is not None and again.pid != pid)
    assert staying_server(tmp_path) is not None


def test_a_port_that_is_taken_or_another_is_refused(stays: Server, tmp_path: Path) -> None:
    assert stays.local is not None
    other = module.free_port()
    with pytest.raises(ServerError, match=f"^--port {other}: the server runs at {stays.local.port} already"):
        start_to_stay(tmp_path, other, silent)
    with pytest.raises(ServerError, match="another program listens there"):
        start_to_stay(tmp_path / "another", stays.local.port, silent)
    assert running_server(tmp_path / "another" / "prefect") is None


def test_the_usual_port_is_left_to_who_has_it(stays: Server, tmp_path: Path) -> None:
    said: list[str] = []
    another = start_to_stay(tmp_path / "another", None, said.append)
    assert another.api_url != stays.api_url
    assert another.local is not None
    taken = f"another program listens at port {module.USUAL_PORT}, so the server is at {another.local.port}"
    assert [line for line in said if line.startswith(taken)] == [f"{taken}; --port chooses one"]
    said.clear()
    start_to_stay(tmp_path / "another", None, said.append)
    assert said == [], "it runs already"
    end_stay(tmp_path / "another", silent)


def test_a_server_that_is_named_is_neither_started_nor_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv(API_URL, f"http://127.0.0.1:{unused.getsockname()[1]}/api")
        for refused in (lambda: start_to_stay(tmp_path, None, silent), lambda: end_stay(tmp_path, silent)):
            with pytest.raises(ServerError, match=f"^{API_URL}={os.environ[API_URL]}: "):
                refused()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("tuned", [True, False])
def test_a_server_that_is_named_and_not_tuned_is_told_of_in_one_line(
    tuned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = {"batch_size": 100, "read_batch_size": 100 if tuned else 1, "flush_interval": 1.0}

    class Prefect(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            settings = {"server": {"services": {"task_run_recorder": recorder}}}
            self.wfile.write(b"true" if self.path == "/api/health" else json.dumps(settings).encode())

    with HTTPServer(("127.0.0.1", 0), Prefect) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv(API_URL, f"http://127.0.0.1:{server.server_port}/api")
        said: list[str] = []
        with prefect_server(tmp_path, said.append) as named:
            assert how_to_tune(named.api_url) == (None if tuned else said[0])
        server.shutdown()
    assert len(said) == (0 if tuned else 1)
    assert tuned or all(f"{name}={value}" in said[0] for name, value in TUNING.items())
