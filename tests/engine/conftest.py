"""One development key of the smallest bundled circuit, made by the code under test."""

from dataclasses import replace
from pathlib import Path

import pytest

import engine
from config import Config, SrsConfig
from engine import CircuitSpec
from groth16.inputs import read_inputs
from groth16.witness import Witness, write_witness
from groth16.witness_calculator import WitnessCalculator


@pytest.fixture(scope="session")
def multiplier(tmp_path_factory: pytest.TempPathFactory) -> CircuitSpec:
    """6 · 7 = 42 on BN254, its witness computed from inputs."""
    spec = engine.resolve("multiplier", Config(srs=SrsConfig(param_cache=tmp_path_factory.mktemp("params"))))
    engine.prepare(spec, lambda _: None)
    return spec


@pytest.fixture
def wrong_witness(multiplier: CircuitSpec, tmp_path: Path) -> CircuitSpec:
    """The same circuit with a witness in which 6 · 7 is 43; its only constraint, 0, fails."""
    assert multiplier.wasm is not None
    assert multiplier.inputs is not None
    right = WitnessCalculator(multiplier.wasm).calculate(read_inputs(multiplier.inputs))
    values = right.values.copy()
    values[1, 0] += 1
    path = tmp_path / "wrong.wtns"
    write_witness(path, Witness(right.curve, values))
    return replace(multiplier, wasm=None, inputs=None, witness=path)
