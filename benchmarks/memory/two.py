"""Two processes on one budget, watched through their ledger; then one of them is killed."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.memory.check import check
from benchmarks.memory.worker import Task

LOOK_EVERY_S = 0.01
KILL_AFTER_PROOFS = 4
RETURNED_WITHIN_S = 5.0
PATIENCE_S = 1800.0


@dataclass(frozen=True)
class TwoFound:
    """What the ledger showed: bytes at most, looks, the killed one's share, and seconds until it was free."""

    budget_bytes: int
    looks: int
    shares_bytes: int
    both_had_shares: int  # looks
    killed_share_bytes: int
    returned_s: float
    survivor: dict[str, Any]

    @property
    def kept(self) -> bool:
        within = self.shares_bytes <= self.budget_bytes and self.returned_s <= RETURNED_WITHIN_S
        return within and self.survivor["state"] == "succeeded" and not self.survivor["without_cause"]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"kept": self.kept}


def two_processes(task: Task, report: Callable[[str], None]) -> TwoFound:
    """Start both, watch until both have proved something, kill one while it holds memory, watch the other."""
    ledger = Path(task.folder) / "memory.json"
    both = replace(task, ledger=str(ledger), wait_for_stdin=True)
    tasks = [replace(both, run_id=name) for name in ("first", "second")]
    with ExitStack() as stack:
        processes = [stack.enter_context(_started(each)) for each in tasks]
        for each in processes:
            stack.callback(each.kill)  # or a failure would wait for what they still prove
        starts = [json.loads(_line(each))["ready"] for each in processes]
        for each in processes:
            assert each.stdin is not None
            print("go", file=each.stdin, flush=True)
        looks = Looks(ledger, processes)
        looks.until(lambda shares: len(shares) == 2 and all(shares.values()))
        report("both have a share")
        looks.until(lambda _: _files(task, "second") >= KILL_AFTER_PROOFS)
        looks.until(lambda shares: bool(shares.get(processes[1].pid)))
        killed_bytes, killed_s = looks.shares[processes[1].pid], time.monotonic()
        looks.watched = []
        processes[1].kill()
        looks.until(lambda shares: processes[1].pid not in shares)
        returned_s = time.monotonic() - killed_s
        report(f"{killed_bytes} bytes of the killed one returned after {returned_s:.2f} s")
        looks.until(lambda shares: processes[0].pid not in shares)
        processes[0].wait()
    found = check(tasks[0].history, "first", starts[0], task.budget_bytes)
    return TwoFound(
        task.budget_bytes, looks.count, looks.most_bytes, looks.both, killed_bytes, returned_s, asdict(found)
    )


class Looks:
    """Reads the ledger's file again and again; it is replaced as a whole, so each look is one moment."""

    def __init__(self, ledger: Path, watched: list[subprocess.Popen[str]]) -> None:
        self._ledger, self.watched = ledger, watched
        self.count = self.most_bytes = self.both = 0
        self.shares: dict[int, int] = {}

    def until(self, condition: Callable[[dict[int, int]], bool]) -> None:
        give_up_s = time.monotonic() + PATIENCE_S
        while True:
            self._look()
            if condition(self.shares):
                return
            if any(each.poll() is not None for each in self.watched):
                raise RuntimeError("a process has ended before it was killed; give it more rounds")
            if time.monotonic() > give_up_s:
                raise TimeoutError(f"nothing came of it within {PATIENCE_S:g} s: {self.shares}")
            time.sleep(LOOK_EVERY_S)

    def _look(self) -> None:
        accounts = json.loads(self._ledger.read_text())["accounts"] if self._ledger.exists() else {}
        self.shares = {each["pid"]: each["share_bytes"] for each in accounts.values()}
        self.count += 1
        self.most_bytes = max(self.most_bytes, sum(self.shares.values()))
        self.both += len(self.shares) == 2 and all(self.shares.values())


def _started(task: Task) -> subprocess.Popen[str]:
    return subprocess.Popen(task.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _files(task: Task, run_id: str) -> int:
    return len(list((Path(task.folder) / run_id).glob("*/proof.json")))
