"""A circuit's inputs, as circom's own calculators take them from JSON. Messages name signals, never values.

Arrays of any depth are flattened in order. A bus or an array of buses is an object or an array of objects;
its signals are called name.field and name[index].field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groth16.errors import InputError
from groth16.json_files import read_json

_NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]{1,160}|[0-9]{1,160})", re.ASCII)


def read_inputs(path: str | Path) -> dict[str, Any]:
    """Read an input file. Raises InputError if it is no JSON object."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: is a JSON {type(value).__name__}, expected an object of signal names and values"
        )
    return value


def flatten(inputs: Mapping[str, Any], modulus: int) -> dict[str, list[int]]:
    """The values of every signal by its qualified name, below the modulus; −v stands for modulus − v.

    Raises InputError, by name, for a value that is no integer (or a string of one, decimal or 0x), or not
    below the modulus in absolute value.
    """
    return {name: _values(name, value, modulus) for name, value in _signals(inputs, "")}


def _signals(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _signals(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(leaf, Mapping) for leaf in _leaves(value)):
        for index, part in enumerate(value):
            yield from _signals(part, f"{name}[{index}]")
    else:
        yield name, value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _values(name: str, value: Any, modulus: int) -> list[int]:
    return [_integer(f"input {name!r}", leaf, modulus) for leaf in _leaves(value)]


def _integer(what: str, value: Any, modulus: int) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = int(value, 16 if "x" in value.lower() else 10)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{what} has a value that is no integer: give integers, or strings of them")
    if abs(value) >= modulus:
        raise InputError(f"{what} has a value that is not below the modulus: give it reduced")
    return value % modulus
