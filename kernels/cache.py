"""Where compiled kernels are kept between processes.

numba tells whether a compiled function is stale by the file that the function stands in. A kernel here is
made from several files (a change in a generator changes every kernel), so each state of the sources gets
its own folder, named by a hash of all of them.
"""

import atexit
import fcntl
import hashlib
import logging
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

log = logging.getLogger("cuzk.kernels")


@cache
def sources_hash() -> str:
    """16 hex digits over every source file of the kernels and the versions of what compiles them."""
    digest = hashlib.sha256(f"{version('numba')} {version('llvmlite')} {_numba_cuda_version()}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"\0{path.relative_to(root).as_posix()}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()[:16]


def _numba_cuda_version() -> str:
    try:
        return version("numba-cuda")
    except PackageNotFoundError:
        return "without"


def folder() -> Path:
    """This state's cache folder: below $NUMBA_CACHE_DIR, else $CUZK_HOME, else the user's cache folder."""
    name = f"numba-{sources_hash()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) if Path(given).name == name else Path(given) / name
    home = os.environ.get("CUZK_HOME")
    if home:
        return Path(home) / name
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "cuzk" / name


@dataclass(frozen=True)
class StandIn:
    """A temporary folder that takes the place of one that cannot be written."""

    unwritable: Path
    temporary: Path


_stand_ins: list[StandIn] = []


def use_own_folder() -> None:
    """Points numba (also in child processes) at `folder()`; at a stand-in for it where that can't be written.

    numba would otherwise fall back to folders beside the sources, whose contents it can't tell stale.
    """
    path = folder().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError:
        path = _make_stand_in(path)
    os.environ["NUMBA_CACHE_DIR"] = str(path)
    if "numba" in sys.modules:
        sys.modules["numba.core.config"].reload_config()


def unwritable_folder() -> Path | None:
    """The folder where kernels belong and could not be kept by this process; None where they are."""
    return _stand_ins[0].unwritable if _stand_ins else None


def remove_stand_in() -> None:
    """Remove the temporary folder, if there is one; also done where the interpreter ends in its usual way."""
    while _stand_ins:
        shutil.rmtree(_stand_ins.pop().temporary, ignore_errors=True)


def _make_stand_in(path: Path) -> Path:
    """A temporary folder with links to what was compiled before: numba reads only where it can write."""
    made = StandIn(path, Path(tempfile.mkdtemp(prefix="cuzk-")))
    _stand_ins.append(made)
    atexit.register(remove_stand_in)
    place = made.temporary / path.name
    place.mkdir()
    with suppress(OSError):  # what cannot be read is compiled
        for source in path.rglob("*"):
            if source.suffix in (".nbi", ".nbc", ".done"):
                link = place / source.relative_to(path)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(source)
    return place


def note_of(work: str) -> Path:
    """A file that is there once this work, as "prove bn254", was compiled: these sources, this processor."""
    return Path(os.environ["NUMBA_CACHE_DIR"]) / f"{work} {_processor_hash()}.done"


@cache
def _processor_hash() -> str:
    """8 hex digits over what numba keeps code apart by, and what chooses kernels."""
    from llvmlite import binding

    chosen = [os.environ.get(name, "") for name in ("CUZK_LANES", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")]
    parts = [binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(), *chosen]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


@cache
def _warn_once(message: str) -> None:
    log.warning(message)


def let_processes_share() -> None:
    """Make numba save one compiled function at a time, of all processes that use the folder.

    It reads a kernel's index, picks a free number, writes the index and then a file of that number. Two
    processes that compile a kernel for different types at once would pick the same number, and a later one
    could load machine code for other types than it asked for.
    """
    from numba.core.caching import IndexDataCacheFile

    save = IndexDataCacheFile.save

    @wraps(save)
    def save_alone(self: Any, key: Any, data: Any) -> None:
        folder = Path(os.environ["NUMBA_CACHE_DIR"])
        try:
            with (folder / "saving.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                save(self, key, data)  # type: ignore[no-untyped-call]  # numba's
        except OSError as error:  # the disk is full: this costs compiling once more, and no proof
            _warn_once(f"{folder}: compiled kernels cannot be kept ({error.strerror})")

    IndexDataCacheFile.save = save_alone  # type: ignore[method-assign]
