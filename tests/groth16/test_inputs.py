from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.calculator_size import inputs_bytes
from groth16.errors import InputError
from groth16.inputs import flatten, memory_bytes, read_inputs
from tests.groth16.samples import refuses, sample

MODULUS = 101


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, {}),
        ({"a": 3, "b": ["4", "0x1F"]}, {"a": [3], "b": [4, 31]}),
        ({"a": [[1, 2], [3, [4]]], "empty": []}, {"a": [1, 2, 3, 4], "empty": []}),
        ({"a": -1, "b": "-100", "c": "-0x2"}, {"a": [100], "b": [1], "c": [99]}),
        ({"bus": {"x": 1, "y": [2, 3]}}, {"bus.x": [1], "bus.y": [2, 3]}),
        ({"bus": [{"x": 1}, {"x": {"z": 2}}]}, {"bus[0].x": [1], "bus[1].x.z": [2]}),
        ({"bus": [[{"x": 1}], [{"x": 2}]]}, {"bus[0][0].x": [1], "bus[1][0].x": [2]}),
    ],
)
def test_names_and_orders_values_as_circom_does(
    inputs: dict[str, Any], expected: dict[str, list[int]]
) -> None:
    assert flatten(inputs, MODULUS) == expected


@given(st.integers(1 - MODULUS, MODULUS - 1))
def test_numbers_and_strings_mean_the_same(value: int) -> None:
    as_hex = hex(value)
    assert (
        flatten({"a": value}, MODULUS)
        == flatten({"a": str(value)}, MODULUS)
        == flatten({"a": as_hex}, MODULUS)
    )


SECRETS: list[Any] = [
    MODULUS,
    -MODULUS,
    str(MODULUS),
    77.5,
    True,
    None,
    "77e1",
    "",
    "77 1",
    "0x",
    "٧",
    "7" * 5000,
]


@pytest.mark.parametrize("value", SECRETS)
def test_bad_values_are_refused_by_name_and_not_shown(value: Any) -> None:
    for inputs, name in (
        ({"ok": 1, "leaf": value}, "leaf"),
        ({"bus": [{"leaf": [[value]]}]}, r"bus\[0\].leaf"),
    ):
        with pytest.raises(InputError, match=f"input '{name}' has a value that is") as caught:
            flatten(inputs, MODULUS, "given.json")
        assert str(caught.value).startswith("given.json: ")
        assert "expected" in str(caught.value)
        assert "7" not in str(caught.value)
        assert str(MODULUS) not in str(caught.value)


@pytest.mark.parametrize("text", ["[1]", '"a"', "1", "null"])
def test_an_input_file_must_hold_an_object(text: str, tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text(text)
    refuses(read_inputs, path, "expected an object")


def test_a_signal_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text('{"a": 1, "b": 2, "a": 1}')
    refuses(read_inputs, path, 'names "a" twice')
    with pytest.raises(InputError, match=r"in\.json: input 'bus\.x' is given twice"):
        flatten({"bus": {"x": 1}, "bus.x": 2}, MODULUS, "in.json")


def test_a_witness_in_its_place_is_told_apart() -> None:
    refuses(read_inputs, sample("bn254", "sample.wtns"), "is a witness .* drop --wasm")


def test_reads_an_input_file(tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"a": [1, "2"]}))
    assert read_inputs(path) == {"a": [1, "2"]}


@pytest.mark.parametrize("value", ["300", "1", 7, 12345, "9" * 77, ["1", "2"], {"x": "10"}])
def test_memory_of_parsed_inputs_is_what_the_interpreter_takes(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"a": [value] * 5000}))
    tracemalloc.start()
    try:
        inputs = read_inputs(path)
        numbers = [] if isinstance(value, list | dict) else flatten(inputs, 1 << 256)["a"]
        taken_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    counted_bytes = memory_bytes(inputs) + memory_bytes(numbers)
    assert (
        0.8 * taken_bytes - 20_000 < counted_bytes < 1.7 * taken_bytes + 20_000
    )  # a number in both counts twice
    assert taken_bytes < inputs_bytes(path) + 20_000
