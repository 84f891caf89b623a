"""The folder of one daemon: its jobs' files, and who it is."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from config import home
from daemon.errors import DaemonError, NotNow
from db.process import is_alive, this_process_started_at

PID_FILE = "daemon.pid"


def folder() -> Path:
    """Where daemons of this state folder keep their files."""
    return home() / "daemon"


def pid_file() -> Path:
    """Who the daemon of this state folder is, as JSON; of the last one, where none runs."""
    return folder() / PID_FILE


@contextmanager
def owned(other: Path | None = None) -> Iterator[Path]:
    """Inside the block the folder, or another, belongs to this process alone.

    Raises DaemonError where it cannot be had, NotNow where another has it.
    """
    path = other or folder()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DaemonError(
            f"{path}: cannot keep jobs there ({error.strerror}); set CUZK_HOME to another folder"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise NotNow(
            f"{path}: {_owner()} uses it; end that daemon, or set CUZK_HOME to another folder"
        ) from None
    try:
        yield path
    finally:
        os.close(descriptor)


def write_pid_file(owned: Path, **about: Any) -> None:
    """Say who this process is: its id and when it started, which together are nobody else's, and `about`."""
    path = owned / PID_FILE
    value = {"pid": os.getpid(), "process_started_at": this_process_started_at().isoformat(), **about}
    temporary = path.with_suffix(".partial")
    temporary.write_text(json.dumps(value))
    temporary.replace(path)


def running() -> dict[str, Any] | None:
    """What the live daemon of this state folder said of itself; None where none lives."""
    try:
        value: dict[str, Any] = json.loads(pid_file().read_text())
        started_at = datetime.fromisoformat(value["process_started_at"])
        return value if is_alive(value["pid"], started_at) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _owner() -> str:
    found = running()
    return f"the daemon of process {found['pid']}" if found else "another process"
