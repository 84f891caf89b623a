"""The memory of GPUs, by NVML, the library behind nvidia-smi; nothing is started for it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from bench.monitor.sample import GpuUse

DEVICES = Path("/dev")


def has_gpus() -> bool:
    """Whether NVIDIA's driver shows devices on this machine."""
    return any(DEVICES.glob("nvidia[0-9]*"))


class Gpus:
    """What NVML tells of a process, look by look. `why_none`: why it tells nothing, None where it does."""

    def __init__(self) -> None:
        self.why_none: str | None = None
        self._devices: list[tuple[str, Any]] = []
        try:
            self._nvml: Any = import_module("pynvml")
        except ImportError:
            self.why_none = "nvidia-ml-py is not installed; pip install 'cuzk[gpu]' if there are GPUs"
            return
        try:
            self._open()
        except self._nvml.NVMLError as error:
            self.why_none = f"NVML: {error}"

    def look(self, pid: int) -> tuple[GpuUse, ...]:
        """Each GPU of the machine; none where `why_none` says why."""
        return tuple(self._use(name, handle, pid) for name, handle in self._devices)

    def close(self) -> None:
        """Let go of the library."""
        if self._devices:
            self._devices = []
            self._nvml.nvmlShutdown()

    def _open(self) -> None:
        nvml = self._nvml
        nvml.nvmlInit()
        for ordinal in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(ordinal)
            self._devices.append((f"gpu{ordinal}", handle))
        if not self._devices:
            nvml.nvmlShutdown()
            self.why_none = "NVML sees no GPU"

    def _use(self, name: str, handle: Any, pid: int) -> GpuUse:
        found = self._nvml.nvmlDeviceGetMemoryInfo(handle)
        return GpuUse(name, self._of_process(handle, pid), int(found.used), int(found.total))

    def _of_process(self, handle: Any, pid: int) -> int | None:
        """None where the driver does not tell, as in a container, whose ids are others than the driver's."""
        try:
            running = self._nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        except self._nvml.NVMLError:
            return None
        taken = [each.usedGpuMemory for each in running if each.pid == pid]
        return sum(taken) if taken and None not in taken else None
