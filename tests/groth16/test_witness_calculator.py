from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wasmtime

from groth16 import witness_calculator as module
from groth16.errors import InputError
from groth16.witness import read_witness
from groth16.witness_calculator import WitnessCalculator
from kernels.fields import CURVES as CURVES_BY_NAME
from kernels.parallel import Stopped
from kernels.stop_flag import StopFlag
from tests.groth16.samples import CURVES, FOLDER, refuses, sample


def inputs() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((FOLDER / "input.json").read_text())
    return value


@pytest.fixture(scope="module")
def calculator() -> WitnessCalculator:
    return WitnessCalculator(sample("bn254", "sample.wasm"))


@pytest.mark.parametrize("curve", CURVES)
def test_calculates_what_circoms_own_calculator_does(curve: str) -> None:
    witness = WitnessCalculator(sample(curve, "sample.wasm")).calculate(inputs())
    expected = read_witness(sample(curve, "sample.wtns"))
    assert witness.curve is expected.curve
    assert np.array_equal(witness.values, expected.values)
    assert witness.values.flags.writeable


def test_values_are_collected_in_blocks(
    calculator: WitnessCalculator, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = calculator.calculate(inputs()).values
    monkeypatch.setattr(module, "_BUFFER_BYTES", 3 * 32)
    assert np.array_equal(calculator.calculate(inputs()).values, whole)


def test_one_calculator_serves_many_threads(calculator: WitnessCalculator) -> None:
    second = {"left": 9, "right": 10}
    cases = [inputs() | {"pairs": [{"left": number, "right": 8}, second]} for number in range(16)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(calculator.calculate, cases))
    totals = [int(witness.values[2, 0]) for witness in found]
    assert totals == [8 * number + 3 * 9 - 10 for number in range(16)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nothing": 1}, "has no input 'nothing'"),
        ({"limit": [1, 2]}, "input 'limit' has 2 values, expected 1"),
        ({"factors": ["2", "6", "1"]}, "input 'factors' has 3 values, expected 4"),
        ({"pairs": [{"left": 1, "right": 2}]}, "takes 10 input values, 8 are given by factors, limit"),
        ({"pairs": [{"left": 1, "wrong": 2}]}, r"has no input 'pairs\[0\].wrong'"),
        ({"limit": 98765}, "does not hold.*template Sample_0 line: 27"),
        ({"factors": [[13, 1], [1, 1]]}, "does not hold.*template Sample_0 line: 26"),
    ],
)
def test_wrong_inputs_are_refused_without_their_values(
    calculator: WitnessCalculator, change: dict[str, Any], words: str
) -> None:
    refuses(lambda _: calculator.calculate(inputs() | change), calculator.path, words)
    with pytest.raises(InputError) as caught:
        calculator.calculate(inputs() | change, "mine.json")
    assert str(caught.value).startswith(f"mine.json: {calculator.path}: ")
    assert "98765" not in str(caught.value)


def test_a_missing_input_is_refused(calculator: WitnessCalculator) -> None:
    given = inputs()
    del given["limit"]
    refuses(
        lambda _: calculator.calculate(given),
        calculator.path,
        "takes 10 input values, 9 are given by factors",
    )
    refuses(lambda _: calculator.calculate({}), calculator.path, "takes 10 input values, none is given")


def test_a_failed_calculation_leaves_nothing_behind(calculator: WitnessCalculator) -> None:
    with pytest.raises(InputError):
        calculator.calculate(inputs() | {"limit": 3})
    assert np.array_equal(
        calculator.calculate(inputs()).values, read_witness(sample("bn254", "sample.wtns")).values
    )


def test_what_a_circuit_logs_is_not_printed(
    calculator: WitnessCalculator, capfd: pytest.CaptureFixture[str]
) -> None:
    calculator.calculate(inputs())
    assert capfd.readouterr() == ("", "")


def wat(text: str, to: Path) -> Path:
    to.write_bytes(wasmtime.wat2wasm(text))
    return to


def circom_like(version: int = 2, import_name: str = "exceptionHandler", init: str = "") -> str:
    """A module with circom 2's interface, for a field of modulus 97."""
    constants = {
        "getVersion": version,
        "getFieldNumLen32": 8,
        "getSharedRWMemoryStart": 0,
        "getInputSize": 0,
        "getWitnessSize": 1,
        "getMessageChar": 0,
    }
    functions = [
        f'(func (export "{name}") (result i32) i32.const {value})' for name, value in constants.items()
    ]
    return f"""(module
      (import "runtime" "{import_name}" (func (param i32)))
      (memory (export "memory") 1)
      {"".join(functions)}
      (func (export "getRawPrime") (i32.store (i32.const 0) (i32.const 97)))
      (func (export "getInputSignalSize") (param i32 i32) (result i32) i32.const -1)
      (func (export "getWitness") (param i32))
      (func (export "init") (param i32) {init})
      (func (export "setInputSignal") (param i32 i32 i32)))"""


def test_foreign_modules_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "module.wasm"
    refuses(WitnessCalculator, path, "cannot be read")
    refuses(WitnessCalculator, sample("bn254", "sample.r1cs"), "expected a WebAssembly module")
    path.write_bytes(b"")
    refuses(WitnessCalculator, path, "expected a WebAssembly module")
    path.write_bytes(sample("bn254", "sample.wasm").read_bytes()[:5000])
    refuses(WitnessCalculator, path, "no valid WebAssembly module")
    refuses(WitnessCalculator, wat("(module)", path), "has no get.*, it was not made by circom 2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (circom_like(), "field of modulus 97, expected bn254's or bls12381's"),
        (circom_like(version=3), "made by circom 3, expected circom 2"),
        (circom_like(import_name="log"), "imports runtime.log"),
    ],
)
def test_calculators_of_others_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = wat(text, tmp_path / "module.wasm")
    refuses(lambda path: WitnessCalculator(path).calculate({}), path, words)


def test_a_trap_is_an_error_of_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wat(circom_like(init="unreachable"), tmp_path / "module.wasm")
    monkeypatch.setattr(module, "curve_of_scalar_modulus", lambda _: CURVES_BY_NAME["bn254"])
    refuses(lambda path: WitnessCalculator(path).calculate({}), path, "the calculator failed")


def test_a_calculation_stops_in_the_middle_and_others_begin_again(
    calculator: WitnessCalculator, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, expected = module._Instance.set_inputs, calculator.calculate(inputs()).values
    stop, begun = StopFlag(), []

    def set_inputs(instance: Any, signals: Any) -> None:
        begun.append(signals)
        if len(begun) == 1:
            stop.set()  # as another thread does while this one is in the module's code
        real(instance, signals)

    monkeypatch.setattr(module._Instance, "set_inputs", set_inputs)
    with pytest.raises(Stopped):
        calculator.calculate(inputs(), stop=stop)
    with pytest.raises(Stopped):
        calculator.calculate(inputs(), stop=stop)  # not even begun
    assert len(begun) == 1
    begun.clear()
    stop = StopFlag()
    with stop.interrupting(calculator._engine.increment_epoch):  # of another calculation beside it
        assert np.array_equal(calculator.calculate(inputs()).values, expected)
    assert len(begun) == 2
