"""Device memory that is kept from one call to the next."""

from typing import Any

import numpy as np
from numba import cuda

from kernels.fields import Field, QuadraticField


class Workspace:
    """Scratch arrays by name, for one stream of work at a time: allocating takes longer than many a kernel.

    An array's content is not kept for its next user. `release` gives everything back.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, Any] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        """The array of this name, made anew if it had another shape."""
        kept = self._arrays.get(name)
        if kept is None or kept.shape != shape or kept.dtype != np.dtype(dtype):
            self._arrays.pop(name, None)
            kept = self._arrays[name] = cuda.device_array(shape, dtype)
        return kept

    @property
    def held_bytes(self) -> int:
        return sum(array.nbytes for array in list(self._arrays.values()))  # other threads may add some

    def release(self) -> None:
        self._arrays.clear()


def element_words(field: Field | QuadraticField) -> int:
    """64-bit words of one element."""
    return field.limbs if isinstance(field, Field) else 2 * field.base.limbs
