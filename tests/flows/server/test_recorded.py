"""A server is waited for while it records, and not for ever."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any

import pytest
from httpx import ConnectError, Response

from flows.server import recorded as module
from flows.server.recorded import wait_recorded


class Server:
    """Has recorded so many tasks each time it is asked; an error is raised."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers = chain(answers, repeat(answers[-1]))
        self.questions: list[dict[str, Any]] = []

    def request(self, method: str, path: str, json: dict[str, Any]) -> Response:
        assert (method, path) == ("POST", "/task_runs/count")
        self.questions.append(json)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return Response(200, json=answer)


def wait_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said while 5 tasks of a flow run are waited for."""

    @contextmanager
    def get_client(sync_client: bool) -> Iterator[Server]:
        assert sync_client
        yield server

    said: list[str] = []
    monkeypatch.setattr(module, "get_client", get_client)
    monkeypatch.setattr(module, "STALLED_AFTER_S", 0.3)
    monkeypatch.setattr(module, "started", Counter({"flow-run": 5}))
    wait_recorded(said.append)
    return said


def test_it_waits_until_all_are_recorded_in_a_final_state(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(0, 3, 5)
    assert wait_for(server, monkeypatch) == []
    assert len(server.questions) == 3
    assert "flow-run" in server.questions[0]["flow_runs"]["id"]["any_"]
    assert "RUNNING" not in server.questions[0]["task_runs"]["state"]["type"]["any_"]


def test_a_slow_server_is_told_of_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORD_EVERY_S", 0.0)
    assert wait_for(Server(1, 2, 5), monkeypatch) == [
        "the Prefect server is recording, 1 of 5 tasks so far",
        "the Prefect server is recording, 2 of 5 tasks so far",
    ]


def test_a_server_that_gets_no_further_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wait_for(Server(1, 4), monkeypatch) == ["the Prefect server has recorded only 4 of 5 tasks"]


def test_a_server_that_is_gone_is_no_failure_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = wait_for(Server(1, ConnectError("all attempts failed")), monkeypatch)
    assert "all attempts failed" in line
