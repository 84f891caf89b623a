"""Circuits are found by name, the settings' before the bundled, and misspelt ones get a hint."""

from pathlib import Path

import pytest

from config import CircuitConfig, Config, GpusConfig, SrsConfig
from engine import EngineError, resolve
from engine.catalog import CircuitSpec
from engine.kept_files import KeptFiles
from policy import Priority


def settings(tmp_path: Path, **circuits: CircuitConfig) -> Config:
    return Config(srs=SrsConfig(param_cache=tmp_path), circuits=circuits)


def test_a_configured_circuit_keeps_all_its_settings(tmp_path: Path) -> None:
    mine = CircuitConfig(zkey=tmp_path / "k", witness=tmp_path / "w", partitions=3, priority="high")
    config = settings(tmp_path, mine=mine).model_copy(update={"gpus": GpusConfig(cores=[0, 1, 2])})
    assert resolve("mine", config) == CircuitSpec(
        "mine",
        tmp_path / "k",
        witness=tmp_path / "w",
        partitions=3,
        priority=Priority.HIGH,
        proving_threads=3,
        derived=KeptFiles(tmp_path / "derived", 8 * 2**30),
    )


def test_a_configured_circuit_hides_the_bundled_one_of_its_name(tmp_path: Path) -> None:
    mine = CircuitConfig(zkey=tmp_path / "k", witness=tmp_path / "w")
    assert not resolve("merkle", settings(tmp_path, merkle=mine)).development


def test_keys_of_bundled_circuits_are_told_apart_by_what_the_circuit_is(tmp_path: Path) -> None:
    names = ("multiplier", "multiplier-bls12381", "merkle", "merkle-bls12381")
    keys = {resolve(name, settings(tmp_path)).zkey for name in names}
    assert len(keys) == len(names)
    assert {key.parent for key in keys} == {tmp_path}


@pytest.mark.parametrize(("name", "hint"), [("merkel", "did you mean 'merkle'"), ("zzz", "there are mine, ")])
def test_an_unknown_name_is_refused_with_a_hint(tmp_path: Path, name: str, hint: str) -> None:
    mine = CircuitConfig(zkey=tmp_path / "k", witness=tmp_path / "w")
    with pytest.raises(EngineError, match=hint):
        resolve(name, settings(tmp_path, mine=mine))


def test_a_circuit_without_a_source_of_its_witness_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a witness, or a wasm with inputs"):
        CircuitSpec("mine", tmp_path / "k", wasm=tmp_path / "c.wasm")
