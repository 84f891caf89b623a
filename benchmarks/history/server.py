"""A PostgreSQL cluster of one's own in a temporary folder, from the installed binaries."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class Server:
    """Reached by a socket in its folder; it runs as the user postgres where this process is root's."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries, self._folder = binaries, folder
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self._folder}"

    @property
    def pid(self) -> int:
        """Of its first process, whose children serve one connection each."""
        return int((self._folder / "data/postmaster.pid").read_text().split()[0])

    def make(self) -> None:
        if self._as_user:
            shutil.chown(self._folder, "postgres")
        options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"]
        self._run("initdb", "-D", str(self._folder / "data"), *options)

    def start(self, *settings: str) -> None:
        given = ["listen_addresses=''", "fsync=off", *settings]
        options = " ".join([f"-k {self._folder}", *(f"-c {setting}" for setting in given)])
        self._control("-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._control("-m", mode, "stop")

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        command: Sequence[str] = [*self._as_user, str(self._binaries / program), *arguments]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", check=False
        )
        if done.returncode != 0:
            raise OSError(f"{program}: {done.stdout}")


def installed() -> Path | None:
    """The folder of the newest PostgreSQL's programs, where Debian puts them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def own_server(*settings: str) -> Iterator[Server]:
    """A running server with an empty database; gone at the end. Raises OSError where none is installed."""
    binaries = installed()
    if binaries is None:
        raise OSError("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="cuzk-postgresql-", dir="/tmp"))  # a socket's path must be short
    server = Server(binaries, folder)
    try:
        server.make()
        server.start(*settings)
        yield server
    finally:
        if (folder / "data/postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
