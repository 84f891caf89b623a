"""A circuit's inputs, as circom's own calculators take them from JSON. Messages name signals, never values.

Arrays of any depth are flattened in order. A bus or an array of buses is an object or an array of objects;
its signals are called name.field and name[index].field.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groth16.errors import InputError
from groth16.json_files import parse_json, read_text

_NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]{1,160}|[0-9]{1,160})", re.ASCII)


def read_inputs(path: str | Path) -> dict[str, Any]:
    """Read an input file. Raises InputError if it is no JSON object, or names a signal twice."""
    text = read_text(path)
    if text.startswith(b"wtns"):
        raise InputError(
            f"{path}: is a witness (.wtns), expected inputs as JSON: drop --wasm, which is for inputs"
        )
    value = parse_json(path, text)
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: is a JSON {type(value).__name__}, expected an object of signal names and values"
        )
    return value


def memory_bytes(value: Any) -> int:
    """What a parsed value takes: lists, strings and numbers, but for short ones, which Python has once."""
    if isinstance(value, Mapping):
        parts = sum(memory_bytes(name) + memory_bytes(part) for name, part in value.items())
    elif isinstance(value, list):
        parts = sum(map(memory_bytes, value))
    elif (isinstance(value, str) and len(value) <= 1) or (isinstance(value, int) and -5 <= value <= 256):
        return 0
    else:
        parts = 0
    return sys.getsizeof(value) + parts


def flatten(
    inputs: Mapping[str, Any], modulus: int, source: str | Path = "the inputs"
) -> dict[str, list[int]]:
    """The values of every signal by its qualified name, below the modulus; −v stands for modulus − v.

    source: the file they are from. Raises InputError, by file and name, for a value that is no integer (or a
    string of one, decimal or 0x), or not below the modulus in absolute value, and for a name given twice, as
    "bus.x" and as x of "bus".
    """
    values: dict[str, list[int]] = {}
    for name, value in _signals(inputs, ""):
        if name in values:
            raise InputError(f"{source}: input {name!r} is given twice: keep one of the two")
        values[name] = _values(f"{source}: input {name!r}", value, modulus)
    return values


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


def _values(what: str, value: Any, modulus: int) -> list[int]:
    return [_integer(what, leaf, modulus) for leaf in _leaves(value)]


def _integer(what: str, value: Any, modulus: int) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = int(value, 16 if "x" in value.lower() else 10)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(
            f"{what} has a value that is no integer, expected integers or strings of them, decimal or 0x"
        )
    if abs(value) >= modulus:
        raise InputError(
            f"{what} has a value that is not below the modulus of the circuit's field, expected one that is, "
            "without its sign: reduce it"
        )
    return value % modulus
