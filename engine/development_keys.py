"""Proving keys of the bundled circuits: made on first use, by one process, and kept."""

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.catalog import CircuitSpec
from engine.errors import EngineError
from engine.limits import threads
from groth16.r1cs import read_r1cs
from groth16.setup import setup
from kernels.cache import first_use_told
from kernels.parallel import Arguments, PoolRunner

Report = Callable[[str], None]

WORD_EVERY_S = 5.0


def prepare(spec: CircuitSpec, report: Report) -> None:
    """Make the development key of a bundled circuit, unless it is there; nothing to do for other circuits.

    Blocks for as long as that takes, and tells `report` a line when it starts, waits and ends. Where two
    processes come at once one makes the key and the other waits for it; the file appears whole or not at all.
    Raises EngineError where it cannot be written.
    """
    if not spec.development or spec.zkey.exists():
        return
    assert spec.r1cs is not None, "a bundled circuit has its constraints at hand"
    try:
        spec.zkey.parent.mkdir(parents=True, exist_ok=True)
        with _alone(spec.zkey.with_suffix(".lock"), report):
            if not spec.zkey.exists():
                _remove_leftovers(spec.zkey)
                _make(spec, spec.r1cs, report)
    except OSError as error:
        raise EngineError(
            f"{spec.zkey.parent}: cannot keep the key of {spec.name} there ({error.strerror}); "
            "set srs.param_cache to a folder that can be written"
        ) from error


def _make(spec: CircuitSpec, r1cs: Path, report: Report) -> None:
    report(f"making a development key for {spec.name}, once; it is unsafe for production")
    started_s = time.monotonic()
    count = threads(0)
    circuit = read_r1cs(r1cs)
    told = first_use_told(f"setup {circuit.curve.name}", report)
    with told, ThreadPoolExecutor(count, "setup") as pool:
        setup(circuit, spec.zkey, _TellingRun(pool, count, spec.name, report))
    report(f"development key in {spec.zkey}, {time.monotonic() - started_s:.1f} s")


class _TellingRun(PoolRunner):
    """A `Run` that says every few seconds that it is still at work."""

    def __init__(self, pool: ThreadPoolExecutor, count: int, name: str, report: Report) -> None:
        super().__init__(pool, count)
        self._name, self._report = name, report
        self._started_s = self._told_s = time.monotonic()

    def __call__(self, kernel: Callable[..., Any], arguments: Sequence[Arguments]) -> list[Any]:
        results = super().__call__(kernel, arguments)
        now_s = time.monotonic()
        if now_s - self._told_s >= WORD_EVERY_S:
            self._told_s = now_s
            self._report(f"still making the key for {self._name}, {now_s - self._started_s:.0f} s so far")
        return results


@contextmanager
def _alone(lock_path: Path, report: Report) -> Iterator[None]:
    """Hold an exclusive lock, which the system takes back however the process ends."""
    with lock_path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another process is making {lock_path.with_suffix('.zkey')}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_leftovers(zkey: Path) -> None:
    """What a process that was killed while it wrote has left behind; nobody else writes under the lock."""
    for path in zkey.parent.glob(f".{zkey.name}.*.tmp"):
        path.unlink(missing_ok=True)
