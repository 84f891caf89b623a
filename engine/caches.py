"""SRS, PCE and witness calculators in memory, by the policy's entry key."""

import threading
from collections.abc import Callable
from typing import TypeVar

from engine.errors import EngineError
from kernels.parallel import Run

T = TypeVar("T")
Loader = Callable[[Run, bool], object]
"""loader(run, first) reads a file, spread over threads by `run`; `first`: it was never loaded in this run."""


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

    def load(self, key: str, loader: Loader, run: Run) -> None:
        """Load the entry and keep it. Blocks; raises what the loader raises, and then keeps nothing."""
        with self._lock:
            if key in self._loading or key in self._loaded:
                raise EngineError(f"{key} is in memory or being loaded, and was to be loaded again")
            self._loading.add(key)
        try:
            value = loader(run, key not in self._known)
            with self._lock:
                self._loaded[key] = value
                self._known.add(key)
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
