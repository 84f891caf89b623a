"""One development key of the smallest bundled circuit, made by the code under test."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from config import Config, SrsConfig
from engine import CircuitSpec
from groth16.inputs import read_inputs
from groth16.witness import Witness, write_witness
from groth16.witness_calculator import WitnessCalculator
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
