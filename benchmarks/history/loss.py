"""Whether every finished proof is in the history once, whatever happens to database, process and disk."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from benchmarks.history.batch import Task, small_circuit
from benchmarks.history.server import own_server
from db import find_run, new_id, open_history, show_run

Report = Callable[[str], None]
LOG2_SIZE = 10
FULL_FOR_S = 10.0
DISK = "size=64m"


@dataclass(frozen=True)
class Result:
    """Of the proofs that were published in some batches, those not recorded, and those more than once."""

    what: str
    finished: int
    lost: int
    twice: int

    def told(self) -> str:
        return f"{self.what}: {self.finished} proofs finished, {self.lost} lost, {self.twice} recorded twice"


def server_stopped(away_s: float, report: Report) -> Result:
    """A PostgreSQL server is stopped in the middle of a batch, and started again."""
    with own_server() as server, tempfile.TemporaryDirectory() as folder:
        open_history(server.url).close()
        task = _task(server.url, folder, 5_000, report)
        with _running(task) as process:
            names = Names(process)
            names.wait_for(5)
            report(f"stopping the server for {away_s:g} s")
            server.stop()
            time.sleep(away_s)
            before = len(names.seen)
            server.start()
            names.wait_for(before + 5)
            process.kill()
        return _checked(f"server stopped for {away_s:g} s, then killed", server.url, task)


def killed(times: int, report: Report) -> Result:
    """Batches are killed, each at a random moment; the next opening imports and closes."""
    results = []
    for number in range(times):
        with tempfile.TemporaryDirectory() as folder:
            task = _task(f"{folder}/h.db", folder, 5_000, report)
            with _running(task) as process:
                Names(process).wait_for(1)
                time.sleep(random.uniform(0, 2))
                process.kill()
            results.append(_checked("", task.url, task))
            report(f"killed {number + 1} of {times}: {results[-1].finished} proofs had finished")
    total = [sum(getattr(each, name) for each in results) for name in ("finished", "lost", "twice")]
    return Result(f"killed {times} times", *total)


def disk_full(report: Report) -> Result:
    """The history's disk is filled in the middle of a batch, and emptied before its end. Needs root."""
    if os.getuid() != 0:
        return Result("disk full: left out, as only root can make a small disk", 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder, _small_disk(Path(folder) / "disk") as disk:
        task = _task(f"{disk}/h.db", folder, 5_000, report)
        with _running(task) as process:
            names = Names(process)
            names.wait_for(3)
            filler = disk / "filler"
            report(f"filling the disk for {FULL_FOR_S:g} s")
            until_s = time.monotonic() + FULL_FOR_S
            while time.monotonic() < until_s:
                _fill(filler)
                time.sleep(0.1)
            filler.unlink()
            names.wait_for(len(names.seen) + 3)
            time.sleep(6)  # the writer looks every five seconds whether there is room
            process.kill()
        return _checked(f"disk full for {FULL_FOR_S:g} s, then killed", task.url, task)


class Names:
    """The proofs that a batch says are published, as it says them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.seen: list[str] = []
        self._process = process
        Thread(target=self._read, daemon=True).start()

    def wait_for(self, count: int) -> None:
        while len(self.seen) < count:
            if self._process.poll() is not None:
                raise RuntimeError(f"the batch ended by itself, with status {self._process.returncode}")
            time.sleep(0.005)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("dense"):
                self.seen.append(line.strip())


def _task(url: str, folder: str, proofs: int, report: Report) -> Task:
    return Task(url, f"{folder}/proofs", small_circuit(LOG2_SIZE, report).as_dict(), proofs, new_id())


@contextmanager
def _running(task: Task) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(task.command(), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _checked(what: str, url: str, task: Task) -> Result:
    """A proof is finished if its files are there under their own names."""
    finished = {path.parent.name for path in Path(task.folder).glob("*/proof*.json")}
    with open_history(url) as history:
        detail = show_run(history, find_run(history, task.run_id).id)
    recorded = Counter(each.proof.name for each in detail.proofs if each.proof.state == "succeeded")
    lost = sum(name not in recorded for name in finished)
    return Result(what, len(finished), lost, sum(count > 1 for count in recorded.values()))


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(path: Path) -> None:
    try:
        with path.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        return
