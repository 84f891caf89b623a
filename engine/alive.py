"""Whether a process still lives, by its id and its start: ids are used again, in a container soon."""

import os
from functools import cache
from pathlib import Path

import psutil

_HAS_PROC = Path("/proc/self/stat").exists()
_STATE, _START_TICKS = 0, 19  # fields of /proc/PID/stat after the name, see proc(5)


def started(pid: int) -> str:
    """When the process was started, in a form that no clock set anew changes; empty where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "" if _HAS_PROC else _started_elsewhere(pid)
    if fields[_STATE] in "ZX":
        return ""
    return f"{_boot_id()} {fields[_START_TICKS]}"


def is_alive(pid: int, start: str) -> bool:
    """Whether the process with that id and start still runs; a zombie does not."""
    if found := started(pid):
        return found == start
    try:
        os.kill(pid, 0)
    except PermissionError:
        return _HAS_PROC and not Path(f"/proc/{pid}").exists()  # another user's, hidden from this one
    except (ProcessLookupError, OverflowError):
        pass
    return False


def is_suspended(pid: int) -> bool:
    """Whether the process was stopped, by Ctrl-Z or a debugger say, and does nothing until it goes on."""
    try:
        return psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    except psutil.Error:  # it has ended, or is another user's
        return False


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _started_elsewhere(pid: int) -> str:
    """On other systems than Linux."""
    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return ""
