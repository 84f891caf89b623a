"""What multiplies the generators in a setup: the processors, or a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import EngineError

if TYPE_CHECKING:
    from groth16.setup import Multiply


@contextmanager
def multiplying_on(ordinal: int | None) -> Iterator[Multiply]:
    """What to give a setup inside the block; None: the processors.

    Raises EngineError for a GPU that is out of memory or fails.
    """
    if ordinal is None:
        from kernels.cpu.fixed_base import multiply_generator

        yield multiply_generator
        return
    from kernels.cuda import fixed_base
    from kernels.cuda.device import Device
    from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory

    try:
        with Device(ordinal).active():
            yield fixed_base.multiply_generator
    except (OutOfDeviceMemory, DeviceLost) as error:
        raise EngineError(f"--device {ordinal}: {error}; leave it out to use the processors") from error
