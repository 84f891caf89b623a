"""Which server a run uses, how long it is waited for, and what its environment is meanwhile."""

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from pathlib import Path

import pytest

from flows.errors import ServerError
from flows.server import chosen as module
from flows.server.chosen import API_URL, Server, prefect_server
from flows.server.local import CERTIFICATES
from tests.flows.small_server import Health
from tests.flows.support import silent


@pytest.fixture
def named_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that somebody runs, in PREFECT_API_URL."""
    with HTTPServer(("127.0.0.1", 0), Health) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv(API_URL, f"http://127.0.0.1:{server.server_port}/api")
        yield os.environ[API_URL]
        server.shutdown()
        thread.join()


def test_the_named_server_is_used_and_no_other_started(named_url: str, tmp_path: Path) -> None:
    with prefect_server(tmp_path, silent) as server, server.kept_alive(silent):
        server.wait_ready(silent)
        assert server == Server(named_url)
        assert f"{server.ui_url}/api" == named_url
    assert not list(tmp_path.iterdir())


def test_a_named_server_that_wants_a_password_is_left_to_prefect(
    named_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_SERVER_STATUS", "401")
    with prefect_server(tmp_path, silent) as server:
        assert server.api_url == named_url


@pytest.mark.parametrize(
    ("answer", "path", "why"),
    [
        (("500", "true"), "api", "HTTP Error 500"),
        (("200", "true"), "no-api", "HTTP Error 404"),
        (("200", "<!doctype html>"), "api", "its address ends in /api"),  # the UI's page, for any path
    ],
)
def test_a_named_server_that_is_none_is_refused(
    named_url: str,
    answer: tuple[str, str],
    path: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMALL_SERVER_STATUS", answer[0])
    monkeypatch.setenv("SMALL_SERVER_ANSWER", answer[1])
    monkeypatch.setenv(API_URL, named_url.replace("api", path))
    with pytest.raises(ServerError, match=f"no Prefect server answers.*{why}"):
        prefect_server(tmp_path, silent).__enter__()


@pytest.mark.parametrize("end", ["", "/"])
def test_an_address_without_its_end_is_completed(
    named_url: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API_URL, named_url.removesuffix("/api") + end)
    with pytest.raises(ServerError, match=f"one does at {named_url}: set the variable to that$"):
        prefect_server(tmp_path, silent).__enter__()


@pytest.mark.parametrize("scheme", ["http://", "", "nonsense://"])
def test_an_address_where_nothing_is_is_refused(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening, so that nothing else takes it
        url = f"{scheme}127.0.0.1:{unused.getsockname()[1]}/api"
        monkeypatch.setenv(API_URL, url)
        with pytest.raises(ServerError) as refusal, prefect_server(tmp_path, silent):
            pass
    assert str(refusal.value).startswith(f"{API_URL}={url}: ")
    assert "unset the variable" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.usefixtures("small_server")
def test_without_a_named_server_one_is_started_with_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API_URL, " ")  # set to nothing is not set
    monkeypatch.setenv("NO_PROXY", "example.org")
    monkeypatch.setenv("PREFECT_PROFILE", "cloud")
    before = dict(os.environ)
    with prefect_server(tmp_path, silent) as server:
        server.wait_ready(silent)
        assert os.environ[API_URL] == server.api_url
        assert os.environ["PREFECT_HOME"] == str(tmp_path / "prefect")
        assert os.environ["DO_NOT_TRACK"] == "1"
        assert "PREFECT_PROFILE" not in os.environ
        assert os.environ["NO_PROXY"] == "example.org,127.0.0.1"
        certificates = ssl.create_default_context(cafile=os.environ[CERTIFICATES])
        assert len(certificates.get_ca_certs()) == 1, "each client would read all there are"
    assert dict(os.environ) == before


@pytest.mark.usefixtures("small_server")
def test_waiting_says_so_and_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORD_EVERY_S", 0.2)
    monkeypatch.setattr(module, "START_WITHIN_S", 1.0)
    monkeypatch.setenv("SMALL_SERVER_STATUS", "503")
    said: list[str] = []
    with prefect_server(tmp_path, silent) as server:
        with pytest.raises(ServerError, match="within 1 s: HTTP Error 503") as refusal:
            server.wait_ready(said.append)
        assert server.local is not None
        assert server.local.log_path in str(refusal.value)
    assert len(said) > 1
    assert not server.local.is_alive()
