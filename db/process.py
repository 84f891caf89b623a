"""Which process a run belongs to, and whether it still lives.

A process id alone is not enough: it is used again, in a container soon. The time of its start belongs to it.
"""

import os
import socket
from datetime import UTC, datetime, timedelta
from functools import cache

import psutil

_SAME_START = timedelta(seconds=2)  # start times are known to 10 ms; a clock set anew moves them a little


@cache
def host_name() -> str:
    """This machine's name, as in a run's `host`."""
    return socket.gethostname()


def this_process_started_at() -> datetime:
    """When this process started, UTC."""
    return _started_at(psutil.Process(os.getpid()))


def is_alive(pid: int, started_at: datetime) -> bool:
    """Whether the process of this machine with `pid` and `started_at` still runs; a zombie does not."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return abs(_started_at(process) - started_at) <= _SAME_START
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # it is there, and closing a run that goes on would be the worse mistake


def _started_at(process: psutil.Process) -> datetime:
    return datetime.fromtimestamp(process.create_time(), UTC)
