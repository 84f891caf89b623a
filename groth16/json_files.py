"""JSON files, read and written with one clear line when that is impossible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from groth16.container import open_to_read
from groth16.errors import InputError
from groth16.output import replacing

_SHOWN_CHARACTERS = 60


def read_json(path: str | Path) -> Any:
    """Parse a file. Raises InputError if it cannot be read or is no JSON, with the place."""
    with open_to_read(Path(path)) as file:
        text = file.read()
    if not text.strip():
        raise InputError(f"{path}: is empty, expected JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no valid JSON ({error})") from error


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON indented as snarkjs does. Raises InputError if the file cannot be written."""
    with replacing(path) as file:
        file.write((json.dumps(value, indent=1) + "\n").encode())


def shown(value: Any) -> str:
    """A JSON value for a message, cut short. Not for secrets."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
