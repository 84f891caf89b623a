"""Compiling kernels ahead, in processes side by side, with a word on how far it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import kernels
from engine.alone import alone
from engine.errors import EngineError
from engine.gpus import proving_devices, usable_gpus
from engine.words import telling
from groth16.zkey import read_header
from kernels.cache import UNKEPT, note_of, unwritable_folder

if TYPE_CHECKING:
    from config import Config

Report = Callable[[str], None]
Step = tuple[str, str, str]  # curve, purpose and step, as in `kernels.cpu.warmup.STEPS`

PROCESS_BYTES = 1 << 29  # what a process takes while it compiles the largest kernels is 0.3 GB
STOPPING = (signal.SIGINT, signal.SIGTERM)
MOST_PROCESSES = 4  # more would wait for the largest kernel
WORKER = "from kernels.cpu.warmup import work; work()"


def compile_for_key(zkey: Path, report: Report, purpose: str = "prove") -> None:
    """Compile what is needed with this key, unless that was done. Raises InputError for a wrong key."""
    compile_once(purpose, read_header(zkey).curve.name, report)


def compile_for_proofs(config: Config, zkey: Path, report: Report) -> None:
    """Compile what proofs with this key take: for the processors and, where they prove, for GPUs.

    Raises InputError for a wrong key and EngineError for a GPU that is not there.
    """
    compile_for_key(zkey, report)
    if any(device.memory_bytes is not None for device in proving_devices(config)):
        compile_for_key(zkey, report, "gpu")


def compiled_for_proofs(config: Config, curve: str) -> bool:
    """Whether `compile_for_proofs` has nothing to do for keys of the curve. Raises EngineError as it does."""
    purposes = ["prove"]
    if any(device.memory_bytes is not None for device in proving_devices(config)):
        purposes.append("gpu")
    return all(note_of(f"{purpose} {curve}").exists() for purpose in purposes)


def purposes_here(purposes: Sequence[str], wanted: bool = False) -> list[str]:
    """Those that can be compiled for on this machine; EngineError where one that is wanted cannot."""
    gpus = usable_gpus() if "gpu" in purposes else None
    if gpus is None or gpus.found:
        return list(purposes)
    if wanted:
        raise EngineError(f"kernels for GPUs cannot be compiled here: {gpus.why_none}")
    return [purpose for purpose in purposes if purpose != "gpu"]


def compile_once(purpose: str, curve: str, report: Report) -> None:
    """Compile what `purpose` needs on a curve, unless it was in this state of the sources; blocks and tells.

    One process does it and others wait for it. What cannot be compiled ahead is compiled when it is needed.
    """
    note = note_of(f"{purpose} {curve}")
    notes = [note, note_of(f"prove {curve}")] if purpose == "verify" else [note]  # a proof is verified, too
    if any(each.exists() for each in notes):
        return
    unwritable = unwritable_folder()
    times = "once for this machine and version" if unwritable is None else "for this run alone"
    report(f"compiling kernels for {curve}, {times}")
    if unwritable is not None:
        report(f"{unwritable}: cannot be written; set CUZK_HOME to a folder that can, to keep them")
    try:
        with alone(note.with_suffix(".lock"), f"compiling kernels for {curve}", report):
            if not note.exists():
                compile_all([(purpose, curve)], report)
    except (OSError, EngineError) as error:
        report(f"compiling as the work goes on: {error}")


def compile_ahead(wanted: list[tuple[str, str]], report: Report) -> bool:
    """`compile_all`, also what is noted as compiled; waits for other processes that compile any of it."""
    with ExitStack() as locks:
        for purpose, curve in sorted(wanted):  # in one order, or two processes could wait for each other
            lock_path = note_of(f"{purpose} {curve}").with_suffix(".lock")
            locks.enter_context(alone(lock_path, f"compiling kernels for {curve}", report))
        return compile_all(wanted, report)


def compile_all(wanted: list[tuple[str, str]], report: Report) -> bool:
    """Compile for pairs of purpose and curve, and note it. False: all was there, and has only been loaded.

    Raises EngineError where a compiling process fails or cannot keep what it compiled.
    """
    from engine.limits import memory, threads
    from kernels.cpu.warmup import steps_of

    todo = deque((curve, purpose, step) for purpose, curve in wanted for step in steps_of(purpose))
    total, running = len(todo), list[Step]()
    processes = min(len(todo), threads(0), MOST_PROCESSES, max(1, memory().available_bytes // PROCESS_BYTES))
    told = telling(report, lambda: _word(running, total - len(todo) - len(running), total))
    workers: list[subprocess.Popen[str]] = []
    pool = ThreadPoolExecutor(processes, "compiling")
    with _killed_at_signals(workers), told, pool, _running(processes, workers):
        for done in [pool.submit(_compile, worker, todo, running) for worker in workers]:
            done.result()
    notes = [note_of(f"{purpose} {curve}") for purpose, curve in wanted]
    compiled = not all(
        note.exists() for note in notes
    )  # those who load remove them where a kernel is damaged
    for note in notes:
        note.touch()
    return compiled


def _word(running: list[Step], done: int, total: int) -> str:
    names = " and ".join(f"{step} for {curve}" for curve, _, step in list(running)) or "kernels"
    return f"compiling {names}, {done} of {total} done"


def _compile(worker: subprocess.Popen[str], todo: deque[Step], running: list[Step]) -> None:
    """Take steps until there are none. Raises EngineError where the worker ends before it should."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    while True:
        try:
            step = todo.popleft()
        except IndexError:
            return
        running.append(step)
        line = " ".join(step)
        try:
            print(line, file=worker.stdin, flush=True)
            answer = worker.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        running.remove(step)
        if answer.startswith(f"{line}{UNKEPT}"):
            todo.clear()
            raise EngineError(answer.removeprefix(f"{line}{UNKEPT}"))
        if answer != line:
            todo.clear()
            raise EngineError(
                f"compiling {step[2]} for {step[0]} failed: its process ended with {worker.wait()}"
            )


@contextmanager
def _running(count: int, started: list[subprocess.Popen[str]]) -> Iterator[None]:
    """Inside the block, so many workers are in the list."""
    root = str(Path(kernels.__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        for _ in range(count):
            worker = subprocess.Popen(
                [sys.executable, "-c", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # a Ctrl-C in the terminal is for this process, which then ends them
            )
            started.append(worker)
        yield
    finally:
        _kill(started)
        for worker in started:
            worker.communicate()


def _kill(workers: list[subprocess.Popen[str]]) -> None:
    for worker in workers:
        worker.kill()


@contextmanager
def _killed_at_signals(workers: list[subprocess.Popen[str]]) -> Iterator[None]:
    """Inside the block, the first SIGINT or SIGTERM kills the workers and then does what it does outside.

    Another one does nothing until the block is left, which is soon then. Its exception would break off the
    killing, or leave a worker's lock taken for good, and threads would wait for workers that go on.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    before = {number: signal.getsignal(number) for number in STOPPING}

    answered = False

    def kill_first(number: int, frame: FrameType | None) -> None:
        nonlocal answered
        if answered:
            return
        answered = True
        _kill(workers)
        handler = before[signal.Signals(number)]
        assert callable(handler)
        handler(number, frame)

    handled = [number for number, handler in before.items() if callable(handler)]
    for number in handled:
        signal.signal(number, kill_first)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
