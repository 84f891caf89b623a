"""How long each question takes: the whole command, from its start to its end, as a user waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from db import find_run, list_runs, open_history

TIMES = 5
CUZK = [sys.executable, "-c", "from cli.main import main; main()"]


@dataclass(frozen=True)
class Asked:
    """A command, and the least seconds that it took, by the clock and of CPU.

    The least of several times, since whatever else runs makes both longer; `cpu_s` counts the server's too.
    """

    command: str
    seconds: float
    cpu_s: float

    def told(self) -> str:
        return f"{self.seconds:6.2f} s, {self.cpu_s:5.2f} s of CPU   cuzk history {self.command}"


def questions(url: str) -> list[list[str]]:
    """The commands that answer something."""
    with open_history(url) as history:
        runs = [summary.run for summary in list_runs(history, 12)]
        newest, before = runs[0].id, next(run.id for run in runs[1:] if run.name == runs[0].name)
        assert find_run(history, newest).id == newest
    return [
        ["list"],
        ["list", "--circuit", "merkle", "--since", "7d"],
        ["show", newest],
        ["stats"],
        ["stats", "--by", "circuit,version"],
        ["stats", "--circuit", "merkle", "--since", "7d", "--by", "week"],
        ["compare", before, newest],
        ["trend"],
        ["trend", "--by", "week", "--circuit", "porep-32g"],
        ["failures"],
        ["waits"],
        ["sql", f"SELECT stage, avg(seconds) FROM history_stages WHERE run_id = '{newest}' GROUP BY 1"],
    ]


def copies(folder: Path) -> list[list[str]]:
    """The commands that copy, delete or rewrite much, in this order. The last leaves alone what is there."""
    day = str(folder / "day.jsonl")
    return [
        ["export", day, "--since", "1d"],
        ["export", str(folder / "day"), "--since", "1d", "--format", "csv"],
        ["prune", "--keep", "35d"],
        ["vacuum"],
        ["import", day],
    ]


def ask_all(url: str, server_pid: int | None, report: Callable[[str], None]) -> Iterator[Asked]:
    """Ask each in a process of its own; `server_pid`: of PostgreSQL's first process."""
    for arguments in questions(url):
        asked = timed(arguments, url, server_pid, TIMES)
        report(asked.told())
        yield asked


def timed(arguments: Sequence[str], url: str, server_pid: int | None, times: int = 1) -> Asked:
    """What `cuzk history` with these arguments takes, asked of the history at `url` so many times."""
    environment = {**os.environ, "CUZK_HISTORY_URL": url}
    taken = [_time([*CUZK, "history", *arguments], environment, server_pid) for _ in range(times)]
    return Asked(" ".join(arguments)[:60], *map(min, zip(*taken, strict=True)))


def _time(command: list[str], environment: dict[str, str], server_pid: int | None) -> tuple[float, float]:
    begun_s, cpu_s = time.perf_counter(), _children_s(os.getpid()) + _server_s(server_pid)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    ended_s = time.perf_counter()
    return ended_s - begun_s, _children_s(os.getpid()) + _server_s(server_pid) - cpu_s


def _server_s(pid: int | None) -> float:
    """CPU seconds of the server's processes that have ended, once those that end have done so."""
    if pid is None:
        return 0.0
    while any(map(_serves, psutil.Process(pid).children())):
        time.sleep(0.01)
    return _children_s(pid)


def _serves(process: psutil.Process) -> bool:
    """Whether it is one that serves a connection, by the title that it gives itself."""
    try:
        return "[local]" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def _children_s(pid: int) -> float:
    spent = psutil.Process(pid).cpu_times()
    return float(spent.children_user + spent.children_system)
