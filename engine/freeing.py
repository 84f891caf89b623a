"""To know that memory is really gone before its reservation is given back."""

import gc
import time
import traceback
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

# A pool's thread may hold its last arguments some microseconds longer than the call that waited for it.
PATIENCE_S = 5.0


class Watched:
    """Weak references to the arrays that own the memory behind some arrays."""

    def __init__(self, *arrays: NDArray[Any]) -> None:
        self._owners = [weakref.ref(owner(array)) for array in arrays]

    def held_bytes(self, except_for: NDArray[Any] | None = None) -> int:
        """Bytes that are still referenced from anywhere; memory that `except_for` lies in does not count."""
        kept = None if except_for is None else owner(except_for)
        alive = (reference() for reference in self._owners)
        return sum(array.nbytes for array in alive if array is not None and array is not kept)

    def wait_until_free(self, except_for: NDArray[Any] | None = None) -> None:
        """Return once nothing refers to the memory; EngineError if something keeps doing so. Blocks."""
        give_up_s = time.monotonic() + PATIENCE_S
        while held_bytes := self.held_bytes(except_for):
            if time.monotonic() > give_up_s:
                raise EngineError(
                    f"{held_bytes} bytes of a partition's arrays are still in use after its stage"
                )
            time.sleep(0.0002)
            if time.monotonic() > give_up_s - PATIENCE_S / 2:
                gc.collect()  # the arrays may hang in a cycle


def owner(array: NDArray[Any]) -> NDArray[Any]:
    """The array that owns the memory which `array` shows a part of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def clear_frames(error: BaseException) -> None:
    """Empty the local variables that an error's tracebacks hold, so that keeping it keeps no arrays alive."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        traceback.clear_frames(current.__traceback__)
        pending += [current.__cause__, current.__context__]
