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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any

from kernels import cache_folders
from kernels.lane_choice import lane_choice

log = logging.getLogger("cuzk.kernels")
UNKEPT = " unkept: "  # before the reason, where a process that compiles could not keep a kernel
CHECKSUM_BYTES = hashlib.sha256().digest_size


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
        cache_folders.use(path)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError:
        path = _make_stand_in(path)
    os.environ["NUMBA_CACHE_DIR"] = str(path)
    for name in ("numba.core.config", "numba.cuda.core.config"):
        if name in sys.modules:
            sys.modules[name].reload_config()


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

    chosen = [os.environ.get(name, "") for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")]
    parts = [binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(), lane_choice(), *chosen]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


_failed_saves: list[str] = []


def failed_save() -> str | None:
    """What to say of the first kernel that this process compiled and could not keep; None: all are kept."""
    return _failed_saves[0] if _failed_saves else None


@cache
def _warn_once(message: str) -> None:
    log.warning(message)


def let_processes_share(files: Any) -> None:
    """Make numba save one compiled function at a time, of all that use the folder, and load no other.

    files: numba's class IndexDataCacheFile, or numba-cuda's.

    It reads a kernel's index, picks a free number, writes the index and then a file of that number. Two
    processes that compile a kernel for different types at once would pick the same number, and a later one
    could load machine code for other types than it asked for. So could one after a power cut between the two
    writes: what is saved has its key with it.
    """
    save, load = files.save, files.load

    @wraps(save)
    def save_alone(self: Any, key: Any, data: Any) -> None:
        folder = Path(os.environ["NUMBA_CACHE_DIR"])
        try:
            with (folder / "saving.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                save(self, key, (key, data))
        except OSError as error:  # the disk is full: this costs compiling once more, and no proof
            message = f"{folder}: compiled kernels cannot be kept ({error.strerror})"
            _failed_saves.append(message)
            _warn_once(message)

    @wraps(load)
    def load_same(self: Any, key: Any) -> Any:
        saved_key, data = load(self, key) or (None, None)
        return data if saved_key == key else None

    files.save, files.load = save_alone, load_same
    _check_files(files)


def _check_files(files: Any) -> None:
    """Make numba's class end each file with a checksum, and take one that is damaged for one not there.

    numba neither flushes what it writes to the disk nor checks what it reads, and damaged bitcode is an error
    only long after it was loaded.
    """
    open_for_write, load_index, load_data = files._open_for_write, files._load_index, files._load_data

    @contextmanager
    def open_with_checksum(self: Any, path: str) -> Iterator[BytesIO]:
        with open_for_write(self, path) as file:
            content = BytesIO()
            yield content
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    @wraps(load_index)
    def load_sound_index(self: Any) -> Any:
        return load_index(self) if _is_sound(Path(self._index_path)) else {}

    @wraps(load_data)
    def load_sound_data(self: Any, name: str) -> Any:
        if not _is_sound(Path(self._data_path(name))):
            raise FileNotFoundError(name)  # numba then compiles
        return load_data(self, name)

    files._open_for_write = open_with_checksum
    files._load_index = load_sound_index
    files._load_data = load_sound_data


def _is_sound(path: Path) -> bool:
    """Whether the file is there as it was written. One that is damaged is removed, in a word and for good."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        content = b""
    if hashlib.sha256(content[:-CHECKSUM_BYTES]).digest() == content[-CHECKSUM_BYTES:]:
        return True
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    _warn_once(f"{folder}: has damaged files; their kernels are compiled again")
    with suppress(OSError):
        path.unlink()
        for note in folder.glob("*.done"):  # they say more than is true now
            note.unlink()
    return False
