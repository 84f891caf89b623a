"""A GPU that fails in every way it can: no proof is lost by it, and no device blamed that is not at fault."""

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import (
    CircuitSpec,
    Engine,
    EngineError,
    ProofCancelled,
    ProofFailed,
    ProofRequest,
    devices,
    gpus,
    load_shape,
    retrying,
    single,
    stages,
)
from groth16.witness import Witness, read_witness, write_witness
from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory
from policy import (
    BudgetPolicy,
    Device,
    DeviceOutOfMemory,
    Displaced,
    Limits,
)
from policy import DeviceLost as DeviceLostEvent
from policy.codec import decode_decision, decode_event
from tests.engine.fake_gpu import GPU, FakeGpu, prove
from tests.engine.support import CONFIG, ROOT, Hold, Rows, limits_for, run


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
