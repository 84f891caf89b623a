"""How much memory a piece of work holds at once, whichever threads do it.

Kernels say what they allocate (`holding`), and need not know who counts, if anybody does: a meter is part of
the context (`contextvars`), which a `PoolRunner` hands on to its threads.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock
from typing import Any

from numpy.typing import NDArray


class Meter:
    """The most bytes that were held at once."""

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._held_bytes = 0
        self._lock = Lock()

    def holding_bytes(self, nbytes: int) -> AbstractContextManager[None]:
        """Inside the block so many bytes more are held."""
        return _Holding(self, nbytes)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Inside the block, what this thread and the threads that work for it hold counts here."""
        token = _meter.set(self)
        try:
            yield
        finally:
            _meter.reset(token)

    def add(self, nbytes: int) -> None:
        """So many bytes more are held, or fewer."""
        with self._lock:
            self._held_bytes += nbytes
            if self._held_bytes > self.peak_bytes:
                self.peak_bytes = self._held_bytes


class _Holding:
    """A class, as a generator would take a multiple of the time, and small sums hold many arrays."""

    __slots__ = ("_meter", "_nbytes")

    def __init__(self, meter: Meter, nbytes: int) -> None:
        self._meter, self._nbytes = meter, nbytes

    def __enter__(self) -> None:
        self._meter.add(self._nbytes)

    def __exit__(self, *_: object) -> None:
        self._meter.add(-self._nbytes)


_NOTHING = nullcontext()
_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


def holding(*arrays: NDArray[Any]) -> AbstractContextManager[None]:
    """Inside the block these arrays are held, none of them a view; it keeps none alive itself."""
    meter = _meter.get()
    return _NOTHING if meter is None else _Holding(meter, sum([array.nbytes for array in arrays]))


def holding_bytes(nbytes: int) -> AbstractContextManager[None]:
    """Inside the block so much memory is held that is no array's."""
    meter = _meter.get()
    return _NOTHING if meter is None else _Holding(meter, nbytes)
