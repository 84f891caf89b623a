"""Long arrays from host memory to a device's at the bus's speed, while the device works.

The driver copies at full speed, and without holding up kernels, only from memory that it has pinned, and
only on a stream that does not wait for theirs. So an array goes there piece by piece: threads copy a piece
into one pinned buffer while the device fetches the one before from the other.
"""

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from kernels.cuda.launch import SIMULATED
from kernels.parallel import Run, chunks, threads_of

BUFFER_BYTES = 1 << 10 if SIMULATED else 1 << 25
LEAST_BYTES_A_THREAD = 1 << 18


class Uploader:
    """Two pinned buffers and a stream, for one thread at a time; made while its device is active."""

    def __init__(self) -> None:
        self._stream, self._owner = _new_stream()
        self._buffers = [cuda.pinned_array(BUFFER_BYTES, np.uint8) for _ in range(2)]
        self._fetched = [cuda.event() for _ in self._buffers]

    def upload(self, target: Any, source: NDArray[Any], run: Run) -> None:
        """Copy a host array to a device array of the same shape and type, C-contiguous both.

        Blocks until it is there; `run` spreads the copying over threads, and may raise Stopped.
        """
        if not source.size:
            return
        content = np.asarray(source).reshape(-1).view(np.uint8)
        flat = target.reshape(-1).view(np.uint8)
        try:
            for k, start in enumerate(range(0, len(content), BUFFER_BYTES)):
                piece = content[start : start + BUFFER_BYTES]
                buffer, fetched = self._buffers[k % 2][: len(piece)], self._fetched[k % 2]
                fetched.synchronize()
                _copy(buffer, piece, run)
                flat[start : start + len(piece)].copy_to_device(buffer, stream=self._stream)
                fetched.record(self._stream)
        finally:
            self._stream.synchronize()

    def to_device(self, source: NDArray[Any], run: Run) -> Any:
        """A new device array with the content of a host array."""
        target = new_array(source.shape, source.dtype)
        self.upload(target, source, run)
        return target


def new_array(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array in the memory of the device that is active; its content is whatever was there."""
    return cuda.device_array(shape, dtype)


def _copy(target: NDArray[np.uint8], source: NDArray[np.uint8], run: Run) -> None:
    parts = max(1, min(threads_of(run), source.nbytes // LEAST_BYTES_A_THREAD))
    run(np.copyto, [(target[start:stop], source[start:stop]) for start, stop in chunks(len(source), parts)])


def _new_stream() -> tuple[Any, Any]:
    """A stream that does not wait for the default stream, on which kernels run, and what keeps it alive."""
    if SIMULATED:
        return cuda.stream(), None
    from cuda.core import Device

    device = Device(cuda.get_current_device().id)
    device.set_current()
    owner = device.create_stream()  # numba's own streams wait for the default stream
    return cuda.external_stream(int(owner.handle)), owner
