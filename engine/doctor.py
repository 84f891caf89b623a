"""What this machine offers and what of it is used: which kernels, devices, memory and folders, and why."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from config import Config, format_size, home
from engine.errors import EngineError
from engine.gpus import proving_devices, usable_gpus, visible_gpus
from engine.ledger import holders
from engine.limits import budget_bytes, memory, proving_threads, synthesis_threads, threads
from groth16.errors import InputError
from kernels.lane_choice import lane_choice
from policy import Device


@dataclass(frozen=True)
class Finding:
    """One line of the answer. `problem`: proofs cannot be made like this."""

    name: str
    text: str
    problem: bool = False


def examine(config: Config, settings: Path | None) -> list[Finding]:
    """All findings, in the order to show them. `settings`: the file that they come from."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("versions", _versions),
        ("settings", lambda: str(settings or "defaults; there is no file")),
        ("processors", lambda: _processors(config)),
        ("kernels", _kernels),
        ("memory", lambda: _memory(config)),
        ("shared", lambda: _shared(config)),
        ("GPUs", _gpus),
        ("proofs", lambda: _proofs(config)),
    ]
    if config.circuits and _have_gpus(config):
        checks.append(("GPU memory", lambda: "; ".join(_on_gpus(name, config) for name in config.circuits)))
    folders = {"kept in": home(), "keys": config.srs.param_cache, "compiled": _compiled_folder()}
    checks += [(name, partial(_writable, path)) for name, path in folders.items()]
    return [_finding(name, check) for name, check in checks]


def _finding(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, check())
    except EngineError as error:
        return Finding(name, str(error), problem=True)


def _versions() -> str:
    packages = (f"{name} {found}" for name in ("cuzk", "numba", "numba-cuda") if (found := _version(name)))
    return ", ".join([f"Python {platform.python_version()}", *packages])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processors(config: Config) -> str:
    usable, present = threads(0), os.cpu_count() or 1
    try:
        devices = proving_devices(config)
    except EngineError:  # told with the GPUs
        devices = ()
    synthesis, proving = synthesis_threads(config, devices), proving_threads(config)
    return f"{usable} of {present} may be used; {synthesis} threads synthesize, {proving} prove"


def _kernels() -> str:
    from kernels.cpu import adx, ifma  # loads the compiler

    choice = lane_choice()
    words = "64 bits with ADX and BMI2" if adx.available() else "64 bits; the processor lacks ADX or BMI2"
    if choice == "off":
        return f"one element at a time in words of {words}, since CUZK_LANES is off"
    if choice == "emulated":
        return "eight elements at once, emulated and slow, since CUZK_LANES is emulated"
    if ifma.available():
        return f"eight elements at once with AVX-512 IFMA; single ones in words of {words}"
    return f"one element at a time in words of {words}; the processor lacks AVX-512 IFMA"


def _memory(config: Config) -> str:
    found = memory()
    budget = budget_bytes(config, found)
    return f"{found.describe()}; the budget is {format_size(budget)}"


def _shared(config: Config) -> str:
    if config.memory.ledger == "off":
        return "with no other process, since memory.ledger is off"
    path = Path(config.memory.ledger)
    others = [f"{each.name} (process {each.pid}) {format_size(each.share_bytes)}" for each in holders(path)]
    return f"by {path}, of which {'; '.join(others) or 'nobody'} has a share now"


def _gpus() -> str:
    visible = visible_gpus()
    if not visible.found:
        return f"none: {visible.why_none}"
    names = ", ".join(f"{gpu.ordinal} {gpu.name} {format_size(gpu.memory_bytes)}" for gpu in visible.found)
    why_none = usable_gpus().why_none
    return f"{names}; not used: {why_none}" if why_none else names


def _proofs(config: Config) -> str:
    devices = proving_devices(config)
    asked = f"gpus.devices is {config.gpus.devices!r}"
    return f"{'; '.join(map(_device, devices))}; {asked}"


def _device(device: Device) -> str:
    if device.memory_bytes is None:
        return f"by the processors, {device.workers} at once"
    from engine.gpu import open_gpu  # loads CUDA

    free_bytes = open_gpu(device.name, device.memory_bytes).free_bytes()
    text = f"on {device.name}, {device.workers} at once, in {format_size(device.memory_bytes)} of its memory"
    return (
        f"{text}, {format_size(free_bytes)} of which is free now"
        if free_bytes < device.memory_bytes
        else text
    )


def _have_gpus(config: Config) -> bool:
    try:
        return any(device.memory_bytes is not None for device in proving_devices(config))
    except EngineError:  # told with the GPUs
        return False


def _on_gpus(name: str, config: Config) -> str:
    """How many partitions of a configured circuit each GPU's memory holds beside its SRS."""
    from engine.capacity import on_gpus
    from engine.catalog import resolve
    from engine.circuit import load_shape

    try:
        shape = load_shape(resolve(name, config))
    except InputError as error:
        raise EngineError(str(error)) from error
    devices = proving_devices(config)
    counts = ", ".join(f"{count} on {gpu}" for gpu, count in on_gpus(shape, devices).items())
    if not counts:
        return f"{name} is left to the processors, its domain is too small"
    sizes = f"{format_size(shape.device_bytes)} beside an SRS of {format_size(shape.device_entry_bytes)}"
    return f"{name}: {counts}, of {sizes}"


def _compiled_folder() -> Path:
    from kernels.cache import folder, unwritable_folder

    return unwritable_folder() or folder().absolute()


def _writable(path: Path) -> str:
    """The folder, or the nearest above it that is there, can be written."""
    for there in _up_from(path):
        if there.exists():
            if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
                return str(path)
            raise EngineError(f"{path}: {there} cannot be written; set CUZK_HOME to a folder that can")
    raise EngineError(f"{path}: is on no file system that is there")


def _up_from(path: Path) -> Iterator[Path]:
    yield path
    yield from path.parents
