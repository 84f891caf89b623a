"""What a GPU keeps of keys from one proof to the next, and what is told of that."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config import CircuitConfig, Config
from engine import (
    CircuitSpec,
    Engine,
    ProofRequest,
    doctor,
    gpus,
    load_shape,
)
from engine.capacity import on_gpus
from groth16 import device_sizes, sizes
from groth16.zkey import read_header
from policy import (
    Device,
    EvictFromDevice,
    Limits,
    Upload,
    capacities,
)
from policy.codec import decode_decision
from tests.engine.fake_gpu import GPU, FakeGpu, prove
from tests.engine.support import CONFIG, Rows, limits_for, run


@pytest.fixture
def other(spec: CircuitSpec, tmp_path: Path) -> CircuitSpec:
    """The same circuit by another key."""
    shutil.copy(spec.zkey, tmp_path / "other.zkey")
    return replace(spec, zkey=tmp_path / "other.zkey")


def prove_in_turn(specs: list[CircuitSpec], folder: Path, gpu: Device) -> Rows:
    rows = Rows()

    async def steps() -> None:
        limits = limits_for(specs[0], 2, devices=(gpu,))
        async with Engine(CONFIG, replace(limits, budget_bytes=2 * limits.budget_bytes), rows) as running:
            for number, each in enumerate(specs):
                await running.result(running.submit(ProofRequest(each, str(number), folder / str(number))))

    run(steps())
    return rows


def test_a_key_is_sent_once_and_evicted_when_another_needs_the_room(
    spec: CircuitSpec, other: CircuitSpec, tmp_path: Path, install: Any
) -> None:
    gpu, shape = install(FakeGpu()), load_shape(spec)
    small = replace(GPU, memory_bytes=shape.device_entry_bytes * 3 // 2 + shape.device_bytes)
    rows = prove_in_turn([spec, spec, other, other, spec], tmp_path, small)
    assert len(gpu.sent) == 3
    assert gpu.kept == [gpu.sent[0]] == [gpu.sent[2]]
    decided = [decode_decision(each) for row in rows.tables["policy_event"] for each in row["decisions"]]
    assert [each.entry.key for each in decided if isinstance(each, Upload)] == gpu.sent
    assert [type(each) for each in decided].count(EvictFromDevice) == 2


def test_keys_that_have_room_beside_each_other_stay(
    spec: CircuitSpec, other: CircuitSpec, tmp_path: Path, install: Any
) -> None:
    gpu = install(FakeGpu())
    prove_in_turn([spec, other, spec, other], tmp_path, GPU)
    assert len(gpu.sent) == len(gpu.kept) == 2


def test_what_gpus_hold_goes_into_the_history(spec: CircuitSpec, tmp_path: Path, install: Any) -> None:
    install(FakeGpu())
    samples = prove(spec, tmp_path, 3).tables["device_sample"]
    assert {(each["device"], each["held_bytes"]) for each in samples} == {("gpu0", 17)}
    assert [each["sequence"] for each in samples] == list(range(len(samples)))
    assert samples[-1]["reserved_bytes"] == load_shape(spec).device_entry_bytes


def test_a_key_that_is_evicted_from_host_memory_stays_on_the_gpu(
    spec: CircuitSpec, other: CircuitSpec, tmp_path: Path, install: Any
) -> None:
    gpu, rows = install(FakeGpu()), Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1, devices=(GPU,)), rows) as running:
            for number, each in enumerate((spec, other, spec)):
                await running.result(running.submit(ProofRequest(each, str(number), tmp_path / str(number))))

    run(steps())
    decided = [each["type"] for row in rows.tables["policy_event"] for each in row["decisions"]]
    assert decided.count("Evict") > 1
    assert len(gpu.sent) == 2


def test_a_key_larger_than_the_device_leaves_its_points_in_host_memory(spec: CircuitSpec) -> None:
    header = read_header(spec.zkey)
    for memory_bytes in (0, 1 << 40):
        shape = load_shape(replace(spec, device_memory_bytes=memory_bytes))
        assert shape.device_entry_bytes == device_sizes.key_bytes(header)
        assert shape.device_bytes == device_sizes.working_bytes(header)
    large = replace(header, n_variables=1 << 26, domain_size=1 << 26)
    all_bytes = device_sizes.key_bytes(large) + device_sizes.working_bytes(large)
    assert not device_sizes.is_streamed(large, all_bytes)
    assert device_sizes.is_streamed(large, all_bytes - 1)
    left_bytes = device_sizes.key_bytes(large) - device_sizes.key_bytes(large, streamed=True)
    assert left_bytes > sizes.srs_bytes(large) * 9 // 10


def test_what_a_gpu_holds_beside_the_srs_is_told(spec: CircuitSpec, multiplier: CircuitSpec) -> None:
    shape = load_shape(spec)
    key_bytes, each_bytes = shape.device_entry_bytes, shape.device_bytes
    sizes = (key_bytes + 3 * each_bytes, key_bytes + each_bytes - 1, key_bytes - 1, None)
    found = [Device(f"gpu{number}", 2, size_bytes) for number, size_bytes in enumerate(sizes)]
    assert on_gpus(shape, found) == {"gpu0": 3, "gpu1": 0, "gpu2": 0}
    assert on_gpus(load_shape(multiplier), found) == {}
    assert capacities(Limits(10**12, 1, tuple(found[:3])), [shape])[0].on_devices == 2


def test_doctor_tells_how_many_partitions_the_gpus_hold(
    spec: CircuitSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "usable_gpus", lambda: gpus.Gpus((gpus.GpuInfo(0, "a card", 1 << 32),)))
    monkeypatch.setattr(doctor, "_device", lambda device: device.name)
    circuits = {"some": CircuitConfig(zkey=spec.zkey, witness=spec.witness)}
    findings = {each.name: each for each in doctor.examine(Config(circuits=circuits), None)}
    assert findings["GPU memory"].text.startswith("some: 22 on gpu0, of ")
    assert "GPU memory" not in {each.name for each in doctor.examine(Config(), None)}
