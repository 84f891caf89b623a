"""Who uses the local server: the processes that hold the lock of its folder, a `cuzk serve` or a batch."""

from contextlib import suppress
from pathlib import Path
from textwrap import shorten

import psutil

LOCKS = Path("/proc/locks")
WIDTH = 60


def used_by(folder: Path) -> str:
    """The processes by number and command, for a message; "" for none, or where the system does not tell."""
    with suppress(OSError):
        inode = (folder / "users.lock").stat().st_ino
        return ", ".join(filter(None, map(_named, _holders(inode))))
    return ""


def _holders(inode: int) -> list[int]:
    """See proc_locks(5); who only waits for a lock has "->" before its kind."""
    pids = []
    for line in LOCKS.read_text(encoding="utf-8").splitlines():
        _, kind, _, _, pid, file, *_ = line.split()
        if kind == "FLOCK" and file.endswith(f":{inode}"):
            pids.append(int(pid))
    return pids


def _named(pid: int) -> str:
    with suppress(psutil.Error):
        command = psutil.Process(pid).cmdline()
        words = command[1:] if Path(command[0]).name.startswith("python") else command
        return f"process {pid} ({shorten(' '.join([Path(words[0]).name, *words[1:]]), WIDTH)})"
    return ""
