"""Who starts and stops the server on this machine, and what becomes of it when its users die."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from flows.errors import ServerError
from flows.server import local as module
from flows.server.chosen import Server
from flows.server.local import LocalServer, kept_alive, local_server
from flows.server.process import NICE
from tests.flows.support import ROOT, eventually, silent

pytestmark = pytest.mark.usefixtures("small_server")

USE_UNTIL_KILLED = """
import sys, time
from pathlib import Path
from flows.server import local as module
module.PROCESS = Path(sys.argv[2])
with module.local_server(Path(sys.argv[1]), print) as server:
    print(server.pid, flush=True)
    time.sleep(600)
"""


def user(folder: Path) -> "subprocess.Popen[str]":
    """Another process that uses the server of `folder`; its first line is the server's process id."""
    command = [sys.executable, "-c", USE_UNTIL_KILLED, str(folder), str(module.PROCESS)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_it_runs_inside_the_block_and_is_gone_after(tmp_path: Path) -> None:
    with local_server(tmp_path / "home", silent) as server:
        Server(server.api_url, server).wait_ready(silent)
        assert server.is_alive()
    assert not server.is_alive()
    assert not psutil.pid_exists(server.pid), "a zombie is left"
    assert not (tmp_path / "home" / "server.json").exists()


def test_it_lets_proofs_go_first_in_its_session_and_among_sessions(tmp_path: Path) -> None:
    with local_server(tmp_path / "home", silent) as server:
        Server(server.api_url, server).wait_ready(silent)
        assert psutil.Process(server.pid).nice() == min(19, psutil.Process().nice() + NICE)
        of_session = Path(f"/proc/{server.pid}/autogroup")
        assert not of_session.exists() or of_session.read_text().split()[-1] == str(NICE)


def test_only_the_latest_logs_of_servers_are_kept(tmp_path: Path) -> None:
    for second in range(module.LOGS_KEPT + 5):
        (tmp_path / f"server-20200101-0000{second:02}-4200.log").touch()
    with local_server(tmp_path, silent) as server:
        logs = sorted(tmp_path.glob("server-*.log"))
        assert len(logs) == module.LOGS_KEPT
        assert logs[0].name.startswith("server-20200101-000006")
        assert str(logs[-1]) == server.log_path


def test_it_is_gone_after_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), local_server(tmp_path, silent) as server:
        raise KeyboardInterrupt
    assert not server.is_alive()


def test_a_second_user_joins_and_the_last_one_stops_it(tmp_path: Path) -> None:
    first = local_server(tmp_path, silent)
    server = first.__enter__()
    with local_server(tmp_path, silent) as joined:
        assert joined == server
        first.__exit__(None, None, None)
        assert server.is_alive()
    assert not server.is_alive()


def test_many_at_once_start_one(tmp_path: Path) -> None:
    together, found = threading.Barrier(4), []

    def use() -> None:
        together.wait()
        with local_server(tmp_path, silent) as server:
            found.append(server)
            together.wait()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(list(tmp_path.glob("server-*.log"))) == 1
    assert not found[0].is_alive()


def test_it_ends_when_its_user_is_killed(tmp_path: Path) -> None:
    process = user(tmp_path)
    server = (
        LocalServer(**json.loads((tmp_path / "server.json").read_text())) if first_line(process) else None
    )
    assert server is not None
    assert server.is_alive()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert eventually(lambda: not server.is_alive())


def test_it_stays_while_another_user_lives(tmp_path: Path) -> None:
    with local_server(tmp_path, silent) as server:
        process = user(tmp_path)
        assert first_line(process) == str(server.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        time.sleep(2.5)  # twice as long as it takes to notice that nobody is left
        assert server.is_alive()
    assert not server.is_alive()


def test_what_a_killed_run_left_does_not_stop_the_next(tmp_path: Path) -> None:
    with local_server(tmp_path, silent) as server:
        stale = (tmp_path / "server.json").read_text()
    for left in (stale, stale.replace(str(server.pid), str(os.getpid())), "", '{"pid": 1}'):
        (tmp_path / "server.json").write_text(left)
        with local_server(tmp_path, silent) as another:
            assert another.pid not in (server.pid, os.getpid())
            assert another.is_alive()


def test_a_dead_server_is_started_again_at_its_address(tmp_path: Path) -> None:
    said: list[str] = []
    with local_server(tmp_path, silent) as server, kept_alive(server, said.append):
        Server(server.api_url, server).wait_ready(silent)
        os.kill(server.pid, signal.SIGKILL)
        assert eventually(lambda: len(said) == 1)
        assert server.log_path in said[0]
        with local_server(tmp_path, silent) as again:
            assert again.api_url == server.api_url
            assert again.pid != server.pid
            Server(again.api_url, again).wait_ready(silent)
    assert not again.is_alive()


def test_a_server_that_keeps_dying_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.01)
    monkeypatch.setenv("SMALL_SERVER_FAILS", "1")
    said: list[str] = []
    with local_server(tmp_path, silent) as server, kept_alive(server, said.append):
        assert eventually(lambda: len(said) == module.RESTARTS + 1)
        assert "left so" in said[-1]


def test_a_server_that_ends_at_once_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_SERVER_FAILS", "1")
    with (
        local_server(tmp_path, silent) as server,
        pytest.raises(ServerError, match="no such table: flow_run") as refusal,
    ):
        Server(server.api_url, server).wait_ready(silent)
    assert server.log_path in str(refusal.value)


def test_one_that_is_being_stopped_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORD_EVERY_S", 0.05)
    said: list[str] = []
    with (tmp_path / "users.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(0.5, lambda: fcntl.flock(lock, fcntl.LOCK_UN)).start()
        with local_server(tmp_path, said.append) as server:
            assert server.is_alive()
    assert "earlier run" in said[0]


def test_waiting_for_a_lock_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCKED_AT_MOST_S", 0.2)
    with (tmp_path / "users.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ServerError, match=r"users\.lock: locked"), local_server(tmp_path, silent):
            pass


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerError, match="CUZK_HOME"), local_server(tmp_path / "file" / "prefect", silent):
        pass
