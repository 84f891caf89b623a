"""How long each question takes: the whole command, from its start to its end, as a user waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from db import find_run, list_runs, open_history

TIMES = 3
CUZK = [sys.executable, "-c", "from cli.main import main; main()"]


@dataclass(frozen=True)
class Asked:
    """A command, and the seconds that it took, the median of three; `cpu_s` are those of its own process."""

    command: str
    seconds: float
    cpu_s: float


def questions(url: str) -> list[list[str]]:
    """The commands that answer something; those that copy, delete or rewrite much are none."""
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


def ask_all(url: str, report: Callable[[str], None]) -> Iterator[Asked]:
    """Ask each in a process of its own."""
    environment = {**os.environ, "CUZK_HISTORY_URL": url}
    for arguments in questions(url):
        times = sorted(_time([*CUZK, "history", *arguments], environment) for _ in range(TIMES))
        asked = Asked(" ".join(arguments)[:60], *times[TIMES // 2])
        report(f"{asked.seconds:6.2f} s, {asked.cpu_s:5.2f} s of CPU   cuzk history {asked.command}")
        yield asked


def _time(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    begun_s, cpu_s = time.perf_counter(), _children_s()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun_s, _children_s() - cpu_s


def _children_s() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system
