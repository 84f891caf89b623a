"""One GPU: making it the one that a thread works on, and its memory."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from numba import cuda

from kernels.cuda.errors import naming
from kernels.cuda.launch import SIMULATED


class Device:
    """Number `ordinal` of those that the driver shows."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self.name = ordinal, f"gpu{ordinal}"

    @contextmanager
    def active(self) -> Iterator[None]:
        """Inside the block, whatever the calling thread allocates and launches is on this device.

        Raises OutOfDeviceMemory and DeviceLost for the driver's errors.
        """
        with naming(self.name), cuda.gpus[self.ordinal]:
            yield

    def wait(self) -> None:
        """Return once everything launched is done. For use while `active`."""
        cuda.synchronize()

    def held_bytes(self) -> list[int]:
        """The size of each array that this process has on the device. For use while `active`.

        Its free bytes tell less of a process: the driver makes room for kernels' stacks and takes it back,
        and others use it.
        """
        if SIMULATED:
            return []
        gc.collect()
        self.free_bytes()
        return [int(each.size) for each in cuda.current_context().memory_manager.allocations.values()]

    def free_bytes(self) -> int:
        """Of the device's memory, after giving back what is no longer referenced. For use while `active`."""
        context = cuda.current_context()
        if SIMULATED:
            return 1 << 40
        with suppress(IndexError):  # another thread took the last of them
            context.memory_manager.deallocations.clear()  # numba keeps them back until there are some
        return int(context.get_memory_info().free)
