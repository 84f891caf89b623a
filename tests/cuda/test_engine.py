"""Proofs made by the engine on a device, and what stays there between them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.gpu
from engine import CircuitSpec, Engine, ProofFailed, ProofRequest
from engine.gpu import Gpu, open_gpu
from groth16 import device_sizes
from groth16.cuda.points import HostPoints
from groth16.matrices import read_matrices
from groth16.proof import read_proof, read_public
from groth16.verification_key import read_verification_key_of, write_verification_key
from groth16.verifier import verify
from groth16.witness import read_witness
from groth16.zkey import read_proving_key
from kernels.cuda.errors import OutOfDeviceMemory
from kernels.cuda.transfer import new_array
from kernels.parallel import Stopped, serial
from policy import Device
from tests.cuda.conftest import SIMULATED, arrays_left
from tests.engine.support import CONFIG, Rows, limits_for
from tests.groth16 import oracle, proving

ROOT = Path(__file__).parents[2]
SHAPE = {"n_constraints": 3, "n_private": 2} if SIMULATED else {"n_constraints": 500, "n_private": 300}
PROOFS = 1 if SIMULATED else 20
PATIENCE_S = 60
needs_device = pytest.mark.skipif(SIMULATED, reason="the simulator knows no errors and takes minutes")


def set_up(curve: str, folder: Path) -> CircuitSpec:
    files = proving.set_up(oracle.random_circuit(curve, 11, **SHAPE), folder)
    return CircuitSpec(f"random-{curve}", files.zkey, witness=files.wtns, r1cs=files.r1cs)


@pytest.fixture(scope="module", params=["bn254"] if SIMULATED else ["bn254", "bls12381"])
def spec(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CircuitSpec:
    return set_up(request.param, tmp_path_factory.mktemp(request.param))


def test_proofs_of_the_device_are_proofs(spec: CircuitSpec, tmp_path: Path) -> None:
    rows, folders = Rows(), [tmp_path / str(number) for number in range(PROOFS)]

    async def steps() -> None:
        limits = limits_for(spec, 3, devices=(Device("gpu0", 2, 1 << 30),))
        async with Engine(CONFIG, limits, rows) as running:
            ids = [running.submit(ProofRequest(spec, each.name, each)) for each in folders]
            for proof_id in ids:
                await running.result(proof_id)

    asyncio.run(steps())
    assert {row["device"] for row in rows.tables["partition"]} == {"gpu0"}
    key = read_verification_key_of(spec.zkey)
    for folder in folders:
        verify(key, read_public(folder / "public.json", key.curve), read_proof(folder / "proof.json"))
    write_verification_key(tmp_path / "vk.json", key)
    check_by_snarkjs(tmp_path / "vk.json", folders[0] / "public.json", folders[0] / "proof.json")


def check_by_snarkjs(*files: Path) -> None:
    program = ROOT / "node_modules/.bin/snarkjs"
    if not program.exists() and not SIMULATED:
        return  # a machine with a GPU may have no Node.js
    command = ["node", program, "groth16", "verify", *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Caller:
    """Asks a device for sums of the circuit, under any name of its key."""

    def __init__(self, spec: CircuitSpec) -> None:
        assert spec.witness is not None
        self.key, self.witness = read_proving_key(spec.zkey), read_witness(spec.witness)
        self.matrices = read_matrices(self.key.header)
        self.key_bytes = device_sizes.key_bytes(self.key.header)
        self.working_bytes = device_sizes.working_bytes(self.key.header)

    def ask(self, gpu: Gpu, name: str, run: Any = serial) -> Any:
        return gpu.sums(name, self.key, self.matrices, self.witness, None, run)


@pytest.fixture
def caller(spec: CircuitSpec) -> Caller:
    return Caller(spec)


@pytest.fixture
def computing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Instead of sums: those who ask, each with its inputs, in the order of their turns."""
    seen: list[Any] = []
    monkeypatch.setattr(engine.gpu, "finish", lambda sums, _: sums)
    monkeypatch.setattr(engine.gpu, "start_sums", lambda *arguments: seen.append(arguments))
    yield seen
    seen.clear()


def test_a_key_is_sent_once_and_stays_until_it_is_evicted(caller: Caller, computing: list[Any]) -> None:
    gpu = Gpu(0, caller.working_bytes + 5 * caller.key_bytes)
    for name in ("a", "b", "a"):
        caller.ask(gpu, name)
    assert computing[0][0].h is computing[2][0].h
    assert gpu.uploads == 2
    assert 2 * caller.key_bytes < gpu.held_bytes() < gpu.memory_bytes
    gpu.evict("a")
    gpu.evict("never seen")
    gpu.free_evicted()
    assert [gpu.holds(name) for name in ("a", "b")] == [False, True]
    caller.ask(gpu, "a")
    assert gpu.uploads == 3
    computing.clear()
    gpu.close()
    assert gpu.held_bytes() == 0


def test_an_evicted_key_is_gone_before_another_comes(caller: Caller, computing: list[Any]) -> None:
    gpu = Gpu(0, caller.working_bytes + 2 * caller.key_bytes)
    for name in ("a", "b"):
        caller.ask(gpu, name)
    gpu.evict("b")
    caller.ask(gpu, "c")
    assert [gpu.holds(name) for name in ("a", "b", "c")] == [True, False, True]
    assert gpu.held_bytes() <= gpu.memory_bytes
    gpu.free_evicted()
    assert gpu.holds("c")
    assert len(computing) == 3


def test_a_key_larger_than_the_device_stays_in_host_memory_and_is_not_kept_there(
    caller: Caller, computing: list[Any]
) -> None:
    gpu = Gpu(0, caller.working_bytes + caller.key_bytes - 1)
    caller.ask(gpu, "a")
    assert isinstance(computing[0][0].h, HostPoints)
    assert len(computing[0][0].h.points) == len(caller.key.h)
    computing.clear()
    points = weakref.ref(caller.key.h)
    caller.key = read_proving_key(caller.key.header.path)
    assert points() is None
    caller.ask(gpu, "a")
    assert len(computing[0][0].h.points) == len(caller.key.h)
    assert gpu.uploads == 1


@pytest.mark.parametrize("times", [1, 2])
def test_out_of_memory_all_that_nobody_uses_is_given_back_before_it_is_tried_again(
    caller: Caller, computing: list[Any], monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    gpu = Gpu(0, 1 << 30)
    for name in ("idle", "a"):
        caller.ask(gpu, name)
    held = []

    def compute(*_: Any) -> str:
        held.append([gpu.holds(name) for name in ("idle", "a")])
        if len(held) <= times:
            raise OutOfDeviceMemory("gpu0 is out of memory")
        return "sums"

    monkeypatch.setattr(engine.gpu, "start_sums", compute)
    if times == 1:
        assert caller.ask(gpu, "a") == "sums"
    else:
        with pytest.raises(OutOfDeviceMemory):
            caller.ask(gpu, "a")
    assert held == [[True, True], [False, True]]
    computing.clear()
    gpu.close()
    assert gpu.held_bytes() == 0


def test_one_computes_while_another_brings_its_arrays(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, inside, go_on, most = Gpu(0, 1 << 30), threading.Semaphore(0), threading.Event(), []
    uploaded, real = threading.Semaphore(0), engine.gpu.upload_inputs

    def compute(*_: Any) -> None:
        most.append(gpu._computing.locked())
        inside.release()
        assert go_on.wait(PATIENCE_S)

    def upload(*arguments: Any) -> Any:
        inputs = real(*arguments)
        uploaded.release()
        return inputs

    monkeypatch.setattr(engine.gpu, "start_sums", compute)
    monkeypatch.setattr(engine.gpu, "finish", lambda sums, _: sums)
    monkeypatch.setattr(engine.gpu, "upload_inputs", upload)
    threads = [threading.Thread(target=caller.ask, args=(gpu, "a")) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert uploaded.acquire(timeout=PATIENCE_S)
    assert uploaded.acquire(timeout=PATIENCE_S)
    assert inside.acquire(timeout=PATIENCE_S)
    assert not inside.acquire(blocking=False)
    go_on.set()
    for thread in threads:
        thread.join()
    assert most == [True, True]
    gpu.close()


def test_who_waits_for_its_turn_can_be_stopped(caller: Caller, computing: list[Any]) -> None:
    class Run:
        def stopped(self) -> bool:
            return gpu._computing.locked()

        def __call__(self, kernel: Any, arguments: Any) -> Any:
            return serial(kernel, arguments)

    gpu = Gpu(0, 1 << 30)
    with gpu._computing, pytest.raises(Stopped):
        caller.ask(gpu, "a", Run())
    assert computing == []
    caller.ask(gpu, "a", Run())
    assert len(computing) == 1


@needs_device
def test_after_a_device_is_lost_the_processors_prove(spec: CircuitSpec, tmp_path: Path) -> None:
    assert spec.witness is not None
    command = [sys.executable, "-m", "tests.cuda.lose_device", spec.zkey, spec.witness, tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "gpu0 is given up, and the processors prove in its place: gpu0 failed: " in done.stderr
    key = read_verification_key_of(spec.zkey)
    for folder in (tmp_path / str(number) for number in range(3)):
        verify(key, read_public(folder / "public.json", key.curve), read_proof(folder / "proof.json"))


@needs_device
def test_a_device_without_memory_fails_a_proof_that_is_alone_and_no_other(
    spec: CircuitSpec, tmp_path: Path
) -> None:
    device = Device("gpu0", 2, 1 << 30)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 3, devices=(device,))) as running:
            with filled(Gpu(0, 0)):
                proof_id = running.submit(ProofRequest(spec, "short", tmp_path / "short"))
                with pytest.raises(ProofFailed, match="alone on its device"):
                    await running.result(proof_id)
            await running.result(running.submit(ProofRequest(spec, "next", tmp_path / "next")))

    asyncio.run(steps())


@contextmanager
def filled(gpu: Gpu) -> Iterator[None]:
    """Inside the block, the device has next to no memory left."""
    hoard = []
    with gpu._device.active():
        gpu._device.held_bytes()  # or what nobody uses any more would be given back inside the block
        for log2_bytes in range(40, 15, -1):
            with suppress(Exception):
                while True:
                    hoard.append(new_array((1 << log2_bytes,), np.uint8))
    yield
    with gpu._device.active():
        hoard.clear()
        gpu._device.free_bytes()


@needs_device
def test_nothing_is_left_of_a_hundred_proofs(spec: CircuitSpec, tmp_path: Path) -> None:
    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 3, devices=(Device("gpu0", 2, 1 << 30),))) as running:
            left = []
            for batch in range(3):
                names = [f"{batch}-{number}" for number in range(50)]
                ids = [running.submit(ProofRequest(spec, name, tmp_path / name)) for name in names]
                for proof_id in ids:
                    await running.result(proof_id)
                left.append(arrays_left())
            assert left[1] == left[2]

    asyncio.run(steps())


@needs_device
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(engine.EngineError, match="gpu97 cannot be used"):
        open_gpu("gpu97", 1 << 30)
