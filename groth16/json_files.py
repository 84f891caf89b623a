"""JSON files, read and written with one clear line when that is impossible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from groth16.errors import InputError
from groth16.json_pieces import LARGE_BYTES, loads_in_pieces
from groth16.opening import open_to_read
from groth16.output import replacing

_SHOWN_CHARACTERS = 60


def read_json(path: str | Path) -> Any:
    """Parse a file. Raises InputError if it cannot be read or is no JSON or names a key twice."""
    return parse_json(path, read_text(path))


def read_text(path: str | Path) -> bytes:
    """What is in a file. Raises InputError if it cannot be read."""
    try:
        with open_to_read(Path(path), as_stream=True) as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the file") from error


def parse_json(path: str | Path, text: bytes) -> Any:
    """Parse what was read from `path`. Raises InputError if it is no JSON or names a key twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key, part in pairs:
            if key in value:
                raise InputError(f"{path}: names {shown(key)} twice in one object: keep one of the two")
            value[key] = part
        return value

    if not text.strip():
        raise InputError(f"{path}: is empty, expected JSON: write it again")
    try:
        if len(text) > LARGE_BYTES:
            return loads_in_pieces(text, once)
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no valid JSON ({error})") from error


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON indented as snarkjs does. Raises InputError if the file cannot be written."""
    with replacing(path) as file:
        file.write(json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """JSON indented as snarkjs does."""
    return (json.dumps(value, indent=1) + "\n").encode()


def shown(value: Any) -> str:
    """A JSON value for a message, cut short. Not for secrets."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
