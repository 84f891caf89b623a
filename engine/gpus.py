"""The GPUs of this machine, asked of the driver's library alone: no CUDA package, no compiler is loaded."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from config import format_size
from engine.errors import EngineError
from policy import Device

if TYPE_CHECKING:
    from config import Config

LIBRARY = "libcuda.so.1"
PACKAGE = "numba_cuda"  # what the extra installs
INSTALL = "pip install 'cuzk[gpu]'"
LEAST_MARGIN_BYTES = 1 << 30  # of a GPU's memory for the driver, the kernels and their stacks
LEAST_CAPABILITY = (7, 5)  # for which CUDA 13 compiles
_NAME_BYTES = 128
_CAPABILITY_ATTRIBUTES = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR


@dataclass(frozen=True)
class GpuInfo:
    """What the driver says of a GPU.

    ordinal: its number among those that this process may use; capability: its compute capability.
    """

    ordinal: int
    name: str
    memory_bytes: int
    capability: tuple[int, int] = LEAST_CAPABILITY


@dataclass(frozen=True)
class Gpus:
    """The GPUs that can be used, or in one sentence why there are none."""

    found: tuple[GpuInfo, ...]
    why_none: str | None = None


def proving_devices(config: Config, gpus: Gpus | None = None) -> tuple[Device, ...]:
    """What proves under these settings: GPUs, or the processors. EngineError for a GPU that is not there.

    gpus: what there is, where it is not to be asked for.
    """
    wanted, workers = config.gpus.devices, config.gpus.gpu_workers_per_device
    gpus = gpus or (Gpus(()) if wanted == "none" else usable_gpus())
    chosen = gpus.found
    if isinstance(wanted, list):
        chosen = _of_ordinals(gpus, wanted, "gpus.devices")
    elif wanted == "all" and not chosen:
        raise EngineError(f'gpus.devices is "all", but {gpus.why_none}; use "auto" or "none"')
    if not chosen:
        return (Device("cpu", workers),)
    asked = config.gpus.device_memory
    return tuple(Device(f"gpu{gpu.ordinal}", workers, _usable_bytes(asked, gpu)) for gpu in chosen)


def proving_device(ordinal: int, gpus: Gpus | None = None) -> Device:
    """The GPU of that number, for one proof; EngineError if it is not there. gpus: as above."""
    (gpu,) = _of_ordinals(gpus or usable_gpus(), [ordinal], "--device")
    return Device(f"gpu{ordinal}", 1, _usable_bytes("auto", gpu))


def _of_ordinals(gpus: Gpus, ordinals: list[int], asked_by: str) -> tuple[GpuInfo, ...]:
    by_ordinal = {gpu.ordinal: gpu for gpu in gpus.found}
    if missing := [ordinal for ordinal in ordinals if ordinal not in by_ordinal]:
        why = gpus.why_none or f"those here are {', '.join(map(str, by_ordinal))}"
        raise EngineError(f"{asked_by} names GPU {missing[0]}, but {why}")
    return tuple(by_ordinal[ordinal] for ordinal in ordinals)


def _usable_bytes(asked: int | Literal["auto"], gpu: GpuInfo) -> int:
    if asked == "auto":
        return gpu.memory_bytes - max(gpu.memory_bytes // 20, LEAST_MARGIN_BYTES)
    if asked > gpu.memory_bytes:
        raise EngineError(
            f"gpus.device_memory is {format_size(asked)}, but GPU {gpu.ordinal}, {gpu.name}, has "
            f"{format_size(gpu.memory_bytes)}"
        )
    return asked


class _DriverError(Exception):
    pass


def usable_gpus(load: Callable[[str], Any] = ctypes.CDLL) -> Gpus:
    """The GPUs that proofs can be made on: the driver shows them, they are no older than CUDA's compiler
    expects, and the extra is installed.
    """
    gpus = visible_gpus(load)
    names = ", ".join(gpu.name for gpu in gpus.found)
    usable = tuple(gpu for gpu in gpus.found if gpu.capability >= LEAST_CAPABILITY)
    if gpus.found and not usable:
        least = ".".join(map(str, LEAST_CAPABILITY))
        return Gpus((), f"there is {names}, of a compute capability below {least}, the least that will do")
    if usable and importlib.util.find_spec(PACKAGE) is None:
        return Gpus((), f"there is {names}, but no package {PACKAGE}: {INSTALL}")
    return Gpus(usable, gpus.why_none)


def visible_gpus(load: Callable[[str], Any] = ctypes.CDLL) -> Gpus:
    """The GPUs that the driver shows this process."""
    try:
        library = load(LIBRARY)
    except OSError:
        return Gpus((), f"there is no {LIBRARY}, which comes with NVIDIA's driver")
    try:
        found = _ask(library)
    except _DriverError as error:
        return Gpus((), str(error))
    return Gpus(found, None if found else "the driver shows no GPU")


def _ask(library: Any) -> tuple[GpuInfo, ...]:
    def call(name: str, *arguments: Any) -> None:
        if code := getattr(library, name)(*arguments):
            text = ctypes.c_char_p()
            library.cuGetErrorName(code, ctypes.byref(text))
            raise _DriverError(f"the driver's {name} fails with {(text.value or b'an error').decode()}")

    count, device, part = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name, memory_bytes = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_size_t()
    call("cuInit", 0)
    call("cuDeviceGetCount", ctypes.byref(count))
    found = []
    for ordinal in range(count.value):
        call("cuDeviceGet", ctypes.byref(device), ordinal)
        call("cuDeviceGetName", name, _NAME_BYTES, device)
        call("cuDeviceTotalMem_v2", ctypes.byref(memory_bytes), device)
        capability = []
        for attribute in _CAPABILITY_ATTRIBUTES:
            call("cuDeviceGetAttribute", ctypes.byref(part), attribute, device)
            capability.append(part.value)
        text = name.value.decode(errors="replace")
        found.append(GpuInfo(ordinal, text, memory_bytes.value, (capability[0], capability[1])))
    return tuple(found)
