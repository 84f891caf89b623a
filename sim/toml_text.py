"""Writing a profile as TOML that can be read again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def toml_text(values: Mapping[str, Any], comments: Sequence[str] = ()) -> str:
    """The values, nested ones as tables, after lines of comment. What is None is left out."""
    lines = [f"# {line}" for line in comments]
    return "\n".join([*lines, *_table(values, ())]) + "\n"


def _table(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in values.items() if not _is_table(value)}
    if path and (plain or not values):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        if value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _table(value, (*path, key))
        elif _is_table(value):
            for each in value:
                yield f"\n[[{'.'.join(map(_key, (*path, key)))}]]"
                yield from (f"{_key(name)} = {_value(of)}" for name, of in each.items() if of is not None)


def _is_table(value: Any) -> bool:
    many = (
        isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Mapping) for each in value)
    )
    return isinstance(value, Mapping) or many


def _key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
