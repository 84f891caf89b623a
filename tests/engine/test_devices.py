"""A GPU that fails in every way it can: no proof is lost by it, and no device blamed that is not at fault."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config import CircuitConfig, Config
from engine import (
    CircuitSpec,
    Engine,
    EngineError,
    ProofCancelled,
    ProofFailed,
    ProofRequest,
    devices,
    doctor,
    gpus,
    load_shape,
    retrying,
    single,
    stages,
)
from engine.capacity import on_gpus
from groth16 import device_sizes, sizes
from groth16.prover import Sums, multiply_all
from groth16.quotient import quotient
from groth16.synthesis import synthesize
from groth16.witness import Witness, read_witness, write_witness
from groth16.zkey import read_header
from kernels.cpu.ntt import domain_of
from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory
from kernels.parallel import Run, serial
from policy import (
    BudgetPolicy,
    Device,
    DeviceOutOfMemory,
    Displaced,
    EvictFromDevice,
    Limits,
    Upload,
    capacities,
)
from policy import DeviceLost as DeviceLostEvent
from policy.codec import decode_decision, decode_event
from tests.engine.support import CONFIG, ROOT, Hold, Rows, limits_for, run
from tests.groth16 import oracle, proving

GPU = Device("gpu0", 2, 1 << 30)
Fault = Callable[[int], None]


class FakeGpu:
    """Makes a proof's sums as a device does, but on the CPU; `fault` hears before how often it was asked."""

    def __init__(self, fault: Fault = lambda _: None, is_wrong: bool = False) -> None:
        self.calls, self.closed = 0, False
        self.kept: list[str] = []  # keys
        self.sent: list[str] = []
        self._fault, self._is_wrong = fault, is_wrong
        self._lock = threading.Lock()

    def sums(
        self, entry_key: str, key: Any, matrices: Any, witness: Any, evaluations: Any, _run: Run
    ) -> Sums:
        assert entry_key.startswith("srs:")
        assert evaluations is None, "the device makes them"
        with self._lock:
            self.calls += 1
            call = self.calls
            if entry_key not in self.kept:
                self.kept.append(entry_key)
                self.sent.append(entry_key)
        self._fault(call)
        header = key.header
        made = synthesize(matrices, witness, header.domain_size, serial)
        domain = domain_of(header.curve.fr, header.domain_size.bit_length() - 1)
        sums = multiply_all(key, witness, quotient(domain, made, serial), serial)
        return replace(sums, c=sums.a) if self._is_wrong else sums

    def evict(self, entry_key: str) -> None:
        self.kept.remove(entry_key)

    def free_evicted(self) -> None:
        pass

    def held_bytes(self) -> int:
        return 17

    def close(self) -> None:
        self.closed = True


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> CircuitSpec:
    files = proving.set_up(oracle.random_circuit("bn254", 11), tmp_path_factory.mktemp("random"))
    return CircuitSpec("random", files.zkey, witness=files.wtns, r1cs=files.r1cs)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeGpu], FakeGpu]:
    def put(gpu: FakeGpu) -> FakeGpu:
        monkeypatch.setattr(devices, "_open", lambda *_: gpu)
        return gpu

    return put


def prove(
    spec: CircuitSpec, folder: Path, proofs: int, at_once: int = 1, gpus: tuple[Device, ...] = (GPU,)
) -> Rows:
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, at_once, devices=gpus), rows) as running:
            ids = [running.submit(ProofRequest(spec, str(n), folder / str(n))) for n in range(proofs)]
            for proof_id in ids:
                await running.result(proof_id)

    run(steps())
    return rows


def replayed(rows: Rows, limits: Limits) -> None:
    """What happened on the devices is all in the log."""
    policy = BudgetPolicy(limits)
    for row in rows.tables["policy_event"]:
        decisions = policy.handle(decode_event(row["event"]), row["at_s"])
        assert decisions == list(map(decode_decision, row["decisions"]))


def states(rows: Rows) -> list[Any]:
    return [row["state"] for row in rows.tables["partition"]]


def test_a_gpu_proves_from_the_witness_alone(
    spec: CircuitSpec, tmp_path: Path, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = install(FakeGpu())
    monkeypatch.setattr(stages, "synthesize_rows", lambda *_: pytest.fail("the processors made a and b"))
    assert states(prove(spec, tmp_path, 3, at_once=2)) == ["succeeded"] * 3
    assert (gpu.calls, gpu.closed) == (3, True)


def test_what_gpus_hold_is_among_the_metrics(spec: CircuitSpec, install: Any) -> None:
    install(FakeGpu())

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1, devices=(GPU,)), None) as running:
            lines = running.metrics_text().splitlines()
            assert 'cuzk_gpu_held_bytes{gpu="gpu0"} 17' in lines
            assert 'cuzk_gpu_reserved_bytes{gpu="gpu0"} 0' in lines

    run(steps())


def test_a_lost_gpu_is_given_up_and_the_processors_go_on(
    spec: CircuitSpec, tmp_path: Path, install: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fault(call: int) -> None:
        if call == 2:
            raise DeviceLost("gpu0 failed: CUDA_ERROR_ILLEGAL_ADDRESS")

    gpu = install(FakeGpu(fault))
    assert states(prove(spec, tmp_path, 4)) == ["succeeded"] * 4
    assert (gpu.calls, gpu.closed) == (2, False)  # what it holds cannot be reached any more
    assert "gpu0 is given up, and the processors prove in its place: gpu0 failed: CUDA_ERR" in caplog.text


def test_several_gpus_prove_side_by_side_and_one_that_is_lost_ends_nothing(
    spec: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    both = threading.Barrier(2)

    def meet(call: int) -> None:
        if call == 1:
            both.wait(60)

    def meet_and_fail(call: int) -> None:
        meet(call)
        raise DeviceLost("gpu0 failed: CUDA_ERROR_LAUNCH_FAILED")

    found = {"gpu0": FakeGpu(meet_and_fail), "gpu1": FakeGpu(meet)}
    monkeypatch.setattr(devices, "_open", lambda name, _: found[name])
    both_gpus = (replace(GPU, workers=1), replace(GPU, name="gpu1", workers=1))
    rows = prove(spec, tmp_path, 6, 2, both_gpus)
    assert states(rows) == ["succeeded"] * 6
    replayed(rows, limits_for(spec, 2, devices=both_gpus))
    assert {row["device"] for row in rows.tables["partition"]} == {"gpu1"}
    assert found["gpu0"].calls == 1
    assert found["gpu1"].calls == 6
    assert "gpu0 is given up, and others prove in its place: gpu0 failed: CUDA_ERR" in caplog.text
    assert [type(each) for each in rows.log()].count(DeviceLostEvent) == 1
    assert [type(each) for each in rows.log()].count(Displaced) == 1


def test_a_proof_that_no_gpu_is_left_for_fails_and_says_why(
    spec: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise DeviceLost("gpu0 failed: CUDA_ERROR_LAUNCH_FAILED")

    shape, rows = load_shape(spec), Rows()
    small = Device("gpu1", 1, shape.device_entry_bytes + shape.device_bytes - 1)
    monkeypatch.setattr(devices, "_open", lambda name, _: FakeGpu(fail if name == "gpu0" else lambda _: None))

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1, devices=(GPU, small)), rows) as running:
            proof_id = running.submit(ProofRequest(spec, "too large", tmp_path))
            with pytest.raises(ProofFailed, match=r"the largest device has .* would do; gpu0 is lost"):
                await running.result(proof_id)

    run(steps())
    assert states(rows) == ["failed"]


def test_the_last_gpu_that_is_lost_leaves_all_to_the_processors(
    spec: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: int) -> None:
        raise DeviceLost("it failed: CUDA_ERROR_LAUNCH_FAILED")

    monkeypatch.setattr(devices, "_open", lambda *_: FakeGpu(fail))
    rows = prove(spec, tmp_path, 4, 2, (replace(GPU, workers=1), replace(GPU, name="gpu1", workers=1)))
    assert states(rows) == ["succeeded"] * 4
    assert caplog.text.count("is given up, and others prove") == 1
    assert caplog.text.count("is given up, and the processors prove") == 1
    assert [type(each) for each in rows.log()].count(DeviceLostEvent) == 1


def test_out_of_device_memory_is_tried_again_with_fewer_at_once(
    spec: CircuitSpec, tmp_path: Path, install: Any
) -> None:
    both = threading.Barrier(2)

    def fault(call: int) -> None:
        if call <= 2:
            both.wait(60)
        if call == 2:
            raise OutOfDeviceMemory("gpu0 is out of memory")

    gpu = install(FakeGpu(fault))
    rows = prove(spec, tmp_path, 3, at_once=2)
    assert states(rows) == ["succeeded"] * 3
    assert gpu.calls == 4
    assert [type(each) for each in rows.log()].count(DeviceOutOfMemory) == 1
    replayed(rows, limits_for(spec, 2, devices=(GPU,)))


def test_alone_out_of_device_memory_it_waits_for_other_processes(
    spec: CircuitSpec, tmp_path: Path, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying, "BACKOFF_S", (0.0, 0.0))

    def fault(call: int) -> None:
        if call < 3:
            raise OutOfDeviceMemory("gpu0 is out of memory")

    gpu = install(FakeGpu(fault))
    assert states(prove(spec, tmp_path, 1)) == ["succeeded"]
    assert gpu.calls == 3


def test_alone_out_of_device_memory_for_long_is_the_proofs_failure(
    spec: CircuitSpec, tmp_path: Path, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying, "BACKOFF_S", (0.0, 0.0))

    def fault(_: int) -> None:
        raise OutOfDeviceMemory("gpu0 is out of memory")

    install(FakeGpu(fault))
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1, devices=(GPU,)), rows) as running:
            proof_id = running.submit(ProofRequest(spec, "too large", tmp_path))
            with pytest.raises(ProofFailed, match="alone on its device, whose memory was too little"):
                await running.result(proof_id)

    run(steps())
    assert states(rows) == ["failed"]


def test_wrong_proofs_are_made_again_by_the_processors_and_counted(
    spec: CircuitSpec, tmp_path: Path, install: Any, caplog: pytest.LogCaptureFixture
) -> None:
    gpu = install(FakeGpu(is_wrong=True))
    assert states(prove(spec, tmp_path, 5)) == ["succeeded"] * 5
    assert gpu.calls == devices.MOST_WRONG_PROOFS
    assert "given up, and the processors prove in its place: 3 of its proofs were wrong" in caplog.text


def test_a_wrong_witness_is_not_the_gpus_fault(
    spec: CircuitSpec, tmp_path: Path, install: Any, caplog: pytest.LogCaptureFixture
) -> None:
    install(FakeGpu())
    assert spec.witness is not None
    right = read_witness(spec.witness)
    values = right.values.copy()
    values[-1, 0] += 1
    write_witness(tmp_path / "wrong.wtns", Witness(right.curve, values))
    wrong = replace(spec, witness=tmp_path / "wrong.wtns")
    with pytest.raises(ProofFailed, match="does not satisfy the circuit: constraint"):
        prove(wrong, tmp_path / "proofs", 1)
    assert "gpu0" not in caplog.text


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


def test_cancelled_on_the_gpu_a_proof_leaves_nothing(
    spec: CircuitSpec, tmp_path: Path, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = install(FakeGpu())
    hold = Hold(gpu.sums)
    monkeypatch.setattr(gpu, "sums", hold)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1, devices=(GPU,)), None) as running:
            proof_id = running.submit(ProofRequest(spec, "cancelled", tmp_path / "cancelled"))
            await hold.entered()
            running.cancel(proof_id)
            with pytest.raises(ProofCancelled):
                await running.result(proof_id)
            hold.let_go.set()
            await running.result(running.submit(ProofRequest(spec, "next", tmp_path / "next")))

    run(steps())
    assert hold.held_bytes() == 0
    assert gpu.closed


def test_small_domains_are_left_to_the_processors(
    multiplier: CircuitSpec, tmp_path: Path, install: Any
) -> None:
    gpu = install(FakeGpu())
    assert states(prove(multiplier, tmp_path, 1)) == ["succeeded"]
    assert gpu.calls == 0


@pytest.fixture
def prove_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[CircuitSpec], Path]:
    """One proof outside of an engine, on the GPU that is installed."""
    monkeypatch.setattr(gpus, "proving_device", lambda _: GPU)
    real = single.compile_once
    monkeypatch.setattr(
        single, "compile_once", lambda purpose, *rest: purpose == "gpu" or real(purpose, *rest)
    )

    def prove(spec: CircuitSpec) -> Path:
        witness = spec.witness or spec.inputs
        assert witness is not None
        proof, public = tmp_path / "proof.json", tmp_path / "public.json"
        single.prove_files(spec.zkey, witness, proof, public, threads=2, wasm=spec.wasm, gpu=0)
        return proof

    return prove


def test_a_single_proof_is_made_on_a_gpu(spec: CircuitSpec, install: Any, prove_once: Any) -> None:
    gpu = install(FakeGpu())
    assert prove_once(spec).exists()
    assert (gpu.calls, gpu.closed) == (1, True)


def test_a_single_proof_on_a_gpu_that_fails_is_refused_with_what_to_do(
    spec: CircuitSpec, multiplier: CircuitSpec, install: Any, prove_once: Any
) -> None:
    def fault(_: int) -> None:
        raise DeviceLost("gpu0 failed: CUDA_ERROR_ECC_UNCORRECTABLE")

    install(FakeGpu(fault))
    with pytest.raises(EngineError, match=r"gpu0 failed: .*; without --device the processors prove"):
        prove_once(spec)
    with pytest.raises(EngineError, match="too small a domain for a GPU; leave out --device"):
        prove_once(multiplier)


def test_without_a_gpu_nothing_of_cuda_is_loaded() -> None:
    code = (
        "import sys, engine.single, engine.engine, engine.one_proof; from config import Config, GpusConfig;"
        "from engine import policy_limits; policy_limits(Config(gpus=GpusConfig(devices='none')));"
        "from engine.devices import Devices; from policy import Device, Limits;"
        "Devices(Limits(1, 1, (Device('cpu', 1),))); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "engine.proving" in loaded
    assert not {name for name in loaded if name.startswith(("numba.cuda", "cuda.", "engine.gpu."))}
    assert {name for name in loaded if name.startswith("kernels.cuda")} == {
        "kernels.cuda",
        "kernels.cuda.errors",
    }


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
