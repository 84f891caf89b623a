"""Where compiled kernels are kept between processes.

numba tells whether a compiled function is stale by the file that the function stands in. A kernel here is
made from several files (a change in a generator changes every kernel), so each state of the sources gets
its own folder, named by a hash of all of them.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


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


def use_own_folder() -> None:
    """Points numba (also in child processes) at `folder()`; a fresh temporary one if that can't be written.

    numba would otherwise fall back to folders beside the sources, whose contents it can't tell stale.
    """
    path = folder()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError:
        path = Path(tempfile.mkdtemp(prefix="cuzk-")) / path.name
    os.environ["NUMBA_CACHE_DIR"] = str(path)
    if "numba" in sys.modules:
        sys.modules["numba.core.config"].reload_config()


@contextmanager
def first_use_told(work: str, report: Callable[[str], None]) -> Iterator[None]:
    """Around work that runs kernels: tells `report` if it was never done to its end in this state of the
    sources, since it then takes long, and notes at its end that it was.

    work: what decides which kernels are compiled, such as "prove bn254".
    """
    note = Path(os.environ["NUMBA_CACHE_DIR"]) / f"{work}.done"
    if not note.exists():
        report("compiling kernels for this machine, once; takes up to a minute")
    yield
    note.touch()
