"""A Prefect server on this machine with a home folder of its own: the first user starts it, the last ends it.

Runs at the same time share it: two servers on one SQLite file lock each other out. In its folder,
`users.lock` is held shared by each user and alone by whoever stops the server; `start.lock` by whoever looks
whether there is one; `server.json` says which process it is, where it listens, and whether it stays when
nobody uses it.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

import psutil

from flows.errors import ServerError

Say = Callable[[str], None]

PROCESS = Path(__file__).with_name("process.py")
WORD_EVERY_S = 5.0
STOP_WITHIN_S = 15.0
LOCKED_AT_MOST_S = 60.0
LOOK_EVERY_S = 1.0
RESTARTS = 3
LOGS_KEPT = 10

# By default the server spends 42 ms of CPU to record a task and falls behind; in batches it takes a third.
TUNING = {
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}
# Alerts for runs that the server was started anew beneath come within seconds; by default after 15 minutes.
EVENTS = {"PREFECT_SERVER_EVENTS_CAUSAL_ORDERING": "flows.server.event_order"}
# A run whose process died is noticed by three of these that do not come; by default one comes in 3 minutes.
HEARTBEAT = {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30"}
OF_OTHER_SERVERS = ("PREFECT_PROFILE", "PREFECT_PROFILES_PATH", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING")
CERTIFICATES = "PREFECT_API_SSL_CERT_FILE"
Environment = dict[str, str | None]
"""Variables to set, or with None to unset."""


@dataclass(frozen=True)
class LocalServer:
    """The server's process; `process_started_at` tells it from a later process with the same id."""

    port: int
    pid: int
    process_started_at: float
    log_path: str
    stays: bool = False

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def ui_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def folder(self) -> Path:
        return Path(self.log_path).parent

    def is_alive(self) -> bool:
        try:
            process = psutil.Process(self.pid)
            same: bool = process.create_time() == self.process_started_at
            return same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def stop(self) -> None:
        """End it and whatever it started, by force if it takes too long; back when it is gone."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.is_alive():
                break
            os.killpg(self.pid, number)
            deadline_s = time.monotonic() + STOP_WITHIN_S
            while self.is_alive() and time.monotonic() < deadline_s:
                time.sleep(0.05)
        self._reap()

    def _reap(self) -> None:
        """Take note of its end, so that no zombie is left; it is the child of whoever started it."""
        deadline_s = time.monotonic() + STOP_WITHIN_S
        with suppress(ChildProcessError):
            # A process whose first thread has ended looks dead and cannot be waited for until all have.
            while os.waitpid(self.pid, os.WNOHANG) == (0, 0) and time.monotonic() < deadline_s:
                time.sleep(0.01)


@contextmanager
def local_server(folder: Path, say: Say, port: int | None = None) -> Iterator[LocalServer]:
    """The server that has its home in `folder`, running but perhaps not answering yet; raises ServerError.

    port: where it listens if it has to be started; None: at a free one.
    """
    with _user(folder, say):
        yield _running_or_started(folder, port)


@contextmanager
def _user(folder: Path, say: Say) -> Iterator[None]:
    """Inside the block no server of the folder ends for want of users; after it, one without any does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        users = (folder / "users.lock").open("a")
    except OSError as error:
        raise ServerError(
            f"{folder}: no Prefect server can live there ({error.strerror}); set CUZK_HOME to another"
        ) from error
    with users:
        _join(users, say)
        try:
            yield
        finally:
            _leave(users, folder)


def let_stay(folder: Path, say: Say, stays: bool) -> LocalServer | None:
    """Have the folder's server stay when nobody uses it, or end as soon as that is so; None if none runs."""
    with _user(folder, say), _start_lock(folder):
        if server := running_server(folder):
            server = replace(server, stays=stays)
            _note(server)
        return server


@contextmanager
def kept_alive(server: LocalServer, say: Say) -> Iterator[None]:
    """Inside the block, a server that dies is started again at its address, a few times.

    Prefect's clients try again for seconds and keep what was not confirmed, so nothing is lost. Without it a
    run whose server died would wait minutes for an answer, call by call.
    """
    done = threading.Event()
    keeper = threading.Thread(target=_keep_alive, args=(server, done, say), name="server-keeper", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep_alive(server: LocalServer, done: threading.Event, say: Say) -> None:
    restarts = 0
    while not done.wait(LOOK_EVERY_S):
        if server.is_alive():
            continue
        if restarts == RESTARTS:
            say(f"the Prefect server has ended again and is left so; {server.log_path} may say why")
            return
        restarts += 1
        say(f"the Prefect server has ended, starting it again; {server.log_path} may say why")
        noted = _noted(server.folder)  # since `cuzk ui` may have said so after the run had begun
        server = _running_or_started(server.folder, server.port, noted is not None and noted.stays)


def environment(folder: Path) -> Environment:
    """What Prefect's server and its clients need to know: the home, no reports to its makers, no proxy."""
    proxied = [os.environ[name] for name in ("no_proxy", "NO_PROXY") if os.environ.get(name)]
    direct = ",".join([*proxied, "127.0.0.1"])
    return dict.fromkeys(OF_OTHER_SERVERS) | {
        "PREFECT_HOME": str(folder),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "DO_NOT_TRACK": "1",
        **HEARTBEAT,
        CERTIFICATES: None,
        "no_proxy": direct,
        "NO_PROXY": direct,
    }


def _join(users: IO[str], say: Say) -> None:
    """Become a user; waits while the server of an earlier run is being stopped."""
    started_s = word_s = time.monotonic()
    while True:
        try:
            return fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            now_s = time.monotonic()
            if now_s - started_s > LOCKED_AT_MOST_S:
                raise ServerError(
                    f"{users.name}: locked for {LOCKED_AT_MOST_S:g} s by a process that stops the server; "
                    "end that process"
                ) from error
        if now_s - word_s >= WORD_EVERY_S:
            word_s = now_s
            say("waiting for the Prefect server of an earlier run to stop")
        time.sleep(0.1)


def _leave(users: IO[str], folder: Path) -> None:
    """Stop the server if nobody else uses it, and it does not stay."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # the last of the others will
        return
    if server := running_server(folder):
        if server.stays:
            return
        server.stop()
    (folder / "server.json").unlink(missing_ok=True)


def _running_or_started(folder: Path, port: int | None = None, stays: bool = False) -> LocalServer:
    """The server that runs, else a new one, at a free port if none is given; no two users start one each."""
    with _start_lock(folder):
        return running_server(folder) or _start(folder, port or free_port(), stays)


@contextmanager
def _start_lock(folder: Path) -> Iterator[None]:
    with (folder / "start.lock").open("a") as start:
        fcntl.flock(start, fcntl.LOCK_EX)
        yield


def running_server(folder: Path) -> LocalServer | None:
    """The server that has its home in `folder`, if it is alive."""
    server = _noted(folder)
    return server if server is not None and server.is_alive() else None


def _noted(folder: Path) -> LocalServer | None:
    try:
        return LocalServer(**json.loads((folder / "server.json").read_text()))
    except (FileNotFoundError, ValueError, TypeError):  # none, or of another version
        return None


def _start(folder: Path, port: int, stays: bool) -> LocalServer:
    log_path = folder / f"server-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{port}.log"
    # The UI runs in the browser, where it would look for the API at Prefect's usual port.
    # And the server names the UI's pages where it tells of runs, in alerts for one.
    address = f"http://127.0.0.1:{port}"
    ui = {"PREFECT_SERVER_UI_API_URL": f"{address}/api", "PREFECT_UI_URL": address}
    variables = TUNING | EVENTS | dict(os.environ) | environment(folder) | ui
    _remove_old_logs(folder)
    command = ["server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with log_path.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", str(PROCESS), "users.lock", *command],
            cwd=folder,
            env={name: value for name, value in variables.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C in the terminal is for the run, which then stops the server
        )
    started_at = psutil.Process(process.pid).create_time()
    server = LocalServer(port, process.pid, started_at, str(log_path), stays)
    _note(server)
    return server


def _note(server: LocalServer) -> None:
    partial = server.folder / "server.json.partial"
    partial.write_text(json.dumps(asdict(server)))
    partial.replace(server.folder / "server.json")


def _remove_old_logs(folder: Path) -> None:
    """Leave room for one more; names sort by time."""
    for path in sorted(folder.glob("server-*.log"))[: 1 - LOGS_KEPT]:
        path.unlink(missing_ok=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
