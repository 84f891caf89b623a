"""Circuits with keys made by the code under test, and a GPU in place of a real one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from config import Config, SrsConfig
from engine import CircuitSpec, devices
from groth16.inputs import read_inputs
from groth16.witness import Witness, write_witness
from groth16.witness_calculator import WitnessCalculator
from tests.engine.fake_gpu import FakeGpu
from tests.groth16 import oracle, proving
from tests.replaying import every_run_replays


@pytest.fixture(autouse=True)
def replaying() -> Iterator[None]:
    """Whatever these tests run replays to the same decisions."""
    with every_run_replays():
        yield


@pytest.fixture(scope="session")
def multiplier(tmp_path_factory: pytest.TempPathFactory) -> CircuitSpec:
    """6 · 7 = 42 on BN254, its witness computed from inputs."""
    spec = engine.resolve("multiplier", Config(srs=SrsConfig(param_cache=tmp_path_factory.mktemp("params"))))
    engine.prepare(spec, lambda _: None)
    return spec


@pytest.fixture
def right_witness(multiplier: CircuitSpec, tmp_path: Path) -> CircuitSpec:
    """The same circuit with its witness in a file."""
    return with_witness(multiplier, calculated(multiplier), tmp_path / "right.wtns")


@pytest.fixture
def wrong_witness(multiplier: CircuitSpec, tmp_path: Path) -> CircuitSpec:
    """The same circuit with a witness in which 6 · 7 is 43; its only constraint, 0, fails."""
    right = calculated(multiplier)
    values = right.values.copy()
    values[1, 0] += 1
    return with_witness(multiplier, Witness(right.curve, values), tmp_path / "wrong.wtns")


def calculated(spec: CircuitSpec) -> Witness:
    assert spec.wasm is not None
    assert spec.inputs is not None
    return WitnessCalculator(spec.wasm).calculate(read_inputs(spec.inputs))


def with_witness(spec: CircuitSpec, witness: Witness, path: Path) -> CircuitSpec:
    write_witness(path, witness)
    return replace(spec, wasm=None, inputs=None, witness=path)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> CircuitSpec:
    """A random circuit on BN254 of a domain that is large enough for a GPU."""
    files = proving.set_up(oracle.random_circuit("bn254", 11), tmp_path_factory.mktemp("random"))
    return CircuitSpec("random", files.zkey, witness=files.wtns, r1cs=files.r1cs)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeGpu], FakeGpu]:
    """Puts a GPU in the place of each that an engine opens."""

    def put(gpu: FakeGpu) -> FakeGpu:
        monkeypatch.setattr(devices, "_open", lambda *_: gpu)
        return gpu

    return put
