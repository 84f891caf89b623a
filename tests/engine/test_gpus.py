"""Which GPUs there are, by a driver that says what the test wants, and what proves then."""

import ctypes
import importlib.util
from typing import Any

import pytest

from config import Config, GpusConfig
from engine import EngineError
from engine.gpus import GpuInfo, Gpus, proving_device, proving_devices, usable_gpus, visible_gpus
from policy import Device

GIB = 1 << 30
H100, H200 = GpuInfo(0, "NVIDIA H100", 80 * GIB, (9, 0)), GpuInfo(1, "NVIDIA H200", 140 * GIB, (9, 0))
OLD = GpuInfo(0, "NVIDIA P100", 16 * GIB, (6, 0))
NO_DEVICE = 100


class Driver:
    """As libcuda answers, with these GPUs, or failing in one of its functions."""

    def __init__(self, *gpus: GpuInfo, failing: str = "") -> None:
        self._gpus, self._failing = gpus, failing

    def __getattr__(self, name: str) -> Any:
        if name == self._failing:
            return lambda *_: NO_DEVICE
        return {
            "cuInit": lambda _: 0,
            "cuDeviceGetCount": lambda count: self._set(count, len(self._gpus)),
            "cuDeviceGet": lambda device, ordinal: self._set(device, ordinal),
            "cuDeviceGetName": self._name,
            "cuDeviceTotalMem_v2": lambda size, device: self._set(
                size, self._gpus[device.value].memory_bytes
            ),
            "cuDeviceGetAttribute": lambda part, which, device: self._set(
                part, self._of(device).capability[which - 75]
            ),
            "cuGetErrorName": lambda _, text: self._set(text, b"CUDA_ERROR_NO_DEVICE"),
        }[name]

    def _of(self, device: ctypes.c_int) -> GpuInfo:
        return self._gpus[device.value]

    def _set(self, reference: Any, value: Any) -> int:
        reference._obj.value = value
        return 0

    def _name(self, buffer: Any, size: int, device: ctypes.c_int) -> int:
        buffer.value = self._of(device).name.encode()[: size - 1]
        return 0


def no_library(name: str) -> Any:
    raise OSError(f"{name}: cannot open shared object file")


def test_what_the_driver_shows_is_found() -> None:
    assert visible_gpus(lambda _: Driver(H100, H200)) == Gpus((H100, H200))


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (no_library, "there is no libcuda.so.1, which comes with NVIDIA's driver"),
        (lambda _: Driver(), "the driver shows no GPU"),
        (lambda _: Driver(H100, failing="cuInit"), "the driver's cuInit fails with CUDA_ERROR_NO_DEVICE"),
        (lambda _: Driver(H100, failing="cuDeviceGetName"), "cuDeviceGetName fails with CUDA_ERROR"),
    ],
)
def test_why_there_is_none(load: Any, why: str) -> None:
    found = visible_gpus(load)
    assert found.found == ()
    assert why in (found.why_none or "")


def test_without_the_extra_a_gpu_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    found = usable_gpus(lambda _: Driver(H100))
    assert found.found == ()
    assert found.why_none == ("there is NVIDIA H100, but no package numba_cuda: pip install 'cuzk[gpu]'")


def test_a_gpu_that_is_too_old_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: "there")
    found = usable_gpus(lambda _: Driver(OLD))
    assert found.found == ()
    assert found.why_none is not None
    assert "NVIDIA P100, of a compute capability below 7.5" in found.why_none
    assert usable_gpus(lambda _: Driver(OLD, H200)).found == (H200,)


def devices(wanted: Any, gpus: Gpus, memory: Any = "auto") -> tuple[Device, ...]:
    return proving_devices(Config(gpus=GpusConfig(devices=wanted, device_memory=memory)), gpus)


BOTH, NONE = Gpus((H100, H200)), Gpus((), "the driver shows no GPU")
CPU = Device("cpu", 2)


@pytest.mark.parametrize(
    ("wanted", "gpus", "names"),
    [
        ("auto", BOTH, ["gpu0", "gpu1"]),
        ([], BOTH, ["gpu0", "gpu1"]),
        ("all", BOTH, ["gpu0", "gpu1"]),
        ([1], BOTH, ["gpu1"]),
        ([1, 0], BOTH, ["gpu1", "gpu0"]),
        ("auto", NONE, ["cpu"]),
    ],
)
def test_what_proves(wanted: Any, gpus: Gpus, names: list[str]) -> None:
    assert [device.name for device in devices(wanted, gpus)] == names


def test_the_processors_prove_where_no_gpu_is_wanted() -> None:
    assert proving_devices(Config(gpus=GpusConfig(devices="none"))) == (CPU,)


@pytest.mark.parametrize(
    ("wanted", "gpus", "why"),
    [
        ("all", NONE, 'gpus.devices is "all", but the driver shows no GPU; use "auto" or "none"'),
        ([0], NONE, "gpus.devices names GPU 0, but the driver shows no GPU"),
        ([0, 2], BOTH, "gpus.devices names GPU 2, but those here are 0, 1"),
    ],
)
def test_gpus_that_are_not_there_are_refused(wanted: Any, gpus: Gpus, why: str) -> None:
    with pytest.raises(EngineError) as refused:
        devices(wanted, gpus)
    assert str(refused.value) == why


def test_a_single_proof_takes_one_gpu() -> None:
    assert proving_device(1, BOTH) == Device("gpu1", 1, 133 * GIB)
    with pytest.raises(EngineError, match=r"^--device names GPU 7, but those here are 0, 1$"):
        proving_device(7, BOTH)


def test_a_gpus_memory_less_a_margin_is_used_or_what_is_asked_for() -> None:
    small = Gpus((GpuInfo(0, "small", 8 * GIB),))
    assert devices("auto", BOTH) == (Device("gpu0", 2, 76 * GIB), Device("gpu1", 2, 133 * GIB))
    assert devices("auto", small) == (Device("gpu0", 2, 7 * GIB),)
    assert devices("auto", small, 3 * GIB) == (Device("gpu0", 2, 3 * GIB),)
    with pytest.raises(EngineError, match="device_memory is 9GiB, but GPU 0, small, has 8GiB"):
        devices("auto", small, 9 * GIB)
