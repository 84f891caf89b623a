"""A process to watch, which listens on a socket and a port and has pools with names; and a real daemon."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.alive import started
from tests.daemon.conftest import daemon, new_daemon, params

__all__ = ["daemon", "new_daemon", "params"]

LISTENING = """
import socket, sys, threading
from concurrent.futures import ThreadPoolExecutor
from engine.thread_names import show_name

unix, tcp = socket.socket(socket.AF_UNIX), socket.create_server(("127.0.0.1", 0))
unix.bind(sys.argv[1])
unix.listen()
pool = ThreadPoolExecutor(3, "synthesis", show_name)
together = threading.Barrier(4)
waiting = [pool.submit(together.wait) for _ in range(3)]
together.wait()

def work():
    show_name()
    while True:
        sum(range(10_000))

threading.Thread(target=work, name="proving_0", daemon=True).start()
print(tcp.getsockname()[1], flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Watched:
    """The process, and where it listens."""

    process: subprocess.Popen[str]
    unix: str
    tcp: str

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert not started(self.process.pid)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    path = tmp_path / "socket"
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield Watched(process, f"unix://{path}", f"http://127.0.0.1:{port}")
        process.kill()
