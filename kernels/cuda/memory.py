"""Device memory that is kept from one call to the next."""

from math import prod
from typing import Any

from numba import cuda

from kernels.fields import Field, QuadraticField


class Workspace:
    """Scratch arrays by name, for one stream of work at a time: allocating takes longer than many a kernel.

    An array's content is not kept for its next user. `release` gives everything back.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, Any] = {}
        self._arrays: dict[tuple[str, tuple[int, ...]], Any] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        """The array of this name, in memory that only grows; a name has one dtype."""
        kept = self._arrays.get((name, shape))
        if kept is None:
            kept = self._arrays[name, shape] = self._buffer(name, prod(shape), dtype).reshape(shape)
        return kept

    def _buffer(self, name: str, size: int, dtype: str) -> Any:
        """The first `size` elements of the memory of this name."""
        kept = self._buffers.get(name)
        if kept is None or kept.size < size:
            self._arrays = {key: array for key, array in self._arrays.items() if key[0] != name}
            self._buffers.pop(name, None)
            kept = None  # before its successor is made
            kept = self._buffers[name] = cuda.device_array(size, dtype)
        return kept[:size]

    @property
    def held_bytes(self) -> int:
        return sum(buffer.nbytes for buffer in list(self._buffers.values()))  # other threads may add some

    def release(self) -> None:
        self._arrays.clear()
        self._buffers.clear()


def element_words(field: Field | QuadraticField) -> int:
    """64-bit words of one element."""
    return field.limbs if isinstance(field, Field) else 2 * field.base.limbs
