"""What a device's errors mean to whoever uses it. Loads nothing of CUDA."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

_CODE = re.compile(r"CUDA_ERROR_[A-Z0-9_]+")
_OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"


class OutOfDeviceMemory(Exception):  # noqa: N818 — says it all
    """The device had no memory left for an array; nothing else is wrong with it."""


class DeviceLost(Exception):  # noqa: N818 — says it all
    """The device or the driver failed, and whatever else this process asks of the device will fail, too."""


@contextmanager
def naming(device: str) -> Iterator[None]:
    """Inside the block, an error of CUDA is raised as one of the two above, with the device's name.

    numba's own errors and those of cuda.core both name the driver's code in their text.
    """
    try:
        yield
    except (OutOfDeviceMemory, DeviceLost):
        raise
    except Exception as error:
        code = _CODE.search(str(error))
        if code is None:
            raise
        if code[0] == _OUT_OF_MEMORY:
            raise OutOfDeviceMemory(f"{device} is out of memory: {error}") from error
        raise DeviceLost(f"{device} failed: {error}") from error
