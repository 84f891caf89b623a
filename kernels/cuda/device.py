"""One GPU: making it the one that a thread works on, and its memory."""

import atexit
import gc
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from numba import cuda

from kernels.cuda.errors import naming
from kernels.cuda.launch import SIMULATED

_contexts: dict[int, Any] = {}  # those that were used, by the device's number
_until_the_end = ExitStack()


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
            if not SIMULATED and self.ordinal not in _contexts:
                _keep_to_the_end(self.ordinal)
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


def _keep_to_the_end(ordinal: int) -> None:
    """As the process ends, leave to the driver what is on the current device.

    Else numba unloads all devices' kernels while one of them is current, and with two in use the driver
    corrupts the heap and the process is aborted. What is registered last is called first at exit, so that
    weakref, through which numba does that, has to be there before.
    """
    if not _contexts:
        weakref.finalize(_until_the_end, lambda: None)
        atexit.register(_clean_up_no_more)
    _contexts[ordinal] = cuda.current_context()


def _clean_up_no_more() -> None:
    for context in _contexts.values():
        _until_the_end.enter_context(context.defer_cleanup())
