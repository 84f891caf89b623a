"""Proving keys of the bundled circuits: made on first use, by one process, and kept."""

import errno
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.alone import alone
from engine.catalog import CircuitSpec
from engine.compiling import compile_once
from engine.errors import EngineError
from engine.limits import threads
from engine.words import telling
from groth16.errors import InputError
from groth16.r1cs import read_r1cs
from groth16.setup import setup
from groth16.zkey import read_header
from kernels.parallel import PoolRunner

Report = Callable[[str], None]


def prepare(spec: CircuitSpec, report: Report) -> None:
    """Make the development key of a bundled circuit, unless it is there and whole as far as its head tells.

    Nothing to do for other circuits.

    Blocks for as long as that takes, and tells `report` a line when it starts, waits and ends. Where two
    processes come at once one makes the key and the other waits for it; the file appears whole or not at all.
    Raises EngineError where it cannot be written.
    """
    if not spec.development:
        return
    assert spec.r1cs is not None, "a bundled circuit has its constraints at hand"
    try:
        if _is_usable(spec.zkey):
            return
        spec.zkey.parent.mkdir(parents=True, exist_ok=True)
        with alone(spec.zkey.with_suffix(".lock"), f"making {spec.zkey}", report):
            if not _is_usable(spec.zkey):
                if spec.zkey.exists():
                    report(f"the development key {spec.zkey} is damaged; making it again")
                _make(spec, spec.r1cs, report)
    except OSError as error:
        raise EngineError(
            f"{spec.zkey.parent}: cannot keep the key of {spec.name} there ({error.strerror}); "
            "set srs.param_cache to a folder that can be written"
        ) from error


def _is_usable(zkey: Path) -> bool:
    """Whether the key is there and its sections are what its head says; its points are not looked at.

    Raises OSError for one that cannot be read, or is no regular file: making it again may not mend that.
    """
    try:
        read_header(zkey)
    except InputError as error:
        if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileNotFoundError):
            raise error.__cause__ from error
        if zkey.exists() and not zkey.is_file():
            raise FileExistsError(errno.EEXIST, f"{zkey.name} is no regular file") from error
        return False
    return True


def _make(spec: CircuitSpec, r1cs: Path, report: Report) -> None:
    report(f"making a development key for {spec.name}, once; it is unsafe for production")
    started_s = time.monotonic()
    count = threads(0)
    circuit = read_r1cs(r1cs)
    words = telling(report, lambda: f"still making the key for {spec.name}")
    compile_once("setup", circuit.curve.name, report)
    with words, ThreadPoolExecutor(count, "setup") as pool:
        setup(circuit, spec.zkey, PoolRunner(pool, count))
    report(f"development key in {spec.zkey}, {time.monotonic() - started_s:.1f} s")
