"""SRS, PCE and witness calculators in memory, by the policy's entry key."""

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

from engine.errors import EngineError
from kernels.parallel import Run
from policy import Entry

T = TypeVar("T")
Loader = Callable[[Run, bool], object]
"""loader(run, first) reads a file, spread over threads by `run`; `first`: it was never loaded in this run."""


@runtime_checkable
class Sized(Protocol):
    """What knows how many bytes it takes; anything else takes what was reserved for it."""

    @property
    def size_bytes(self) -> int: ...


class Caches:
    """What is loaded, and only by the policy's word: nothing is loaded twice, nothing stays after `evict`.

    Threads load; the event loop evicts and hands out. Whoever takes a value keeps it no longer than a stage,
    so that an evicted one is really gone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loading: set[str] = set()
        self._known: set[str] = set()  # loaded once, and so checked
        self._loaded: dict[str, object] = {}

    def load(self, entry: Entry, loader: Loader, run: Run) -> int:
        """Load the entry, keep it, and say how many bytes it takes. Blocks.

        Raises what the loader raises, and EngineError for what takes more than the entry says; then nothing
        is kept.
        """
        key = entry.key
        with self._lock:
            if key in self._loading or key in self._loaded:
                raise EngineError(f"{key} is in memory or being loaded, and was to be loaded again")
            self._loading.add(key)
        try:
            value = loader(run, key not in self._known)
            size_bytes = value.size_bytes if isinstance(value, Sized) else entry.size_bytes
            if size_bytes > entry.size_bytes:
                raise EngineError(
                    f"{key} takes {size_bytes} bytes, and {entry.size_bytes} are reserved for it"
                )
            with self._lock:
                self._loaded[key] = value
                self._known.add(key)
            return size_bytes
        finally:
            with self._lock:
                self._loading.remove(key)

    def get(self, key: str, kind: type[T]) -> T:
        """The loaded entry, which is of this kind."""
        value = self._loaded[key]
        assert isinstance(value, kind), f"{key} is no {kind.__name__}"
        return value

    def evict(self, key: str) -> None:
        """Let go of the entry; its memory is free when this returns, as nobody uses it."""
        del self._loaded[key]

    def clear(self) -> None:
        """Let go of everything."""
        self._loaded.clear()

    def keys(self) -> list[str]:
        """What is loaded now."""
        return list(self._loaded)
