"""The form of a batch in Prefect's UI, as a JSON schema."""

from typing import Any

import examples
from config import ConfigError, load_config

Schema = dict[str, Any]


def configured_circuits() -> list[str]:
    """Those of the settings' file and the bundled ones; the latter alone where the file is no good."""
    try:
        own = load_config(warn=lambda _: None).circuits
    except ConfigError:
        own = {}
    return [*own, *(name for name in examples.CIRCUITS if name not in own)]


def as_form(schema: Schema) -> None:
    """Offer the circuits by name, and leave a field that may be empty without a default and of one type.

    Prefect would show a choice between "text" and "null" for each of them.
    """
    for name, field in schema["properties"].items():
        of_one_type(field)
        if name == "circuit":
            field["enum"] = configured_circuits()
            del field["default"]
        if field.get("default") in ("", 0, []):
            del field["default"]
    schema["required"] = ["circuit"]


def without_null(schema: Schema) -> None:
    """Leave each field of one type."""
    for field in schema["properties"].values():
        of_one_type(field)


def of_one_type(field: Schema) -> None:
    """Take away that the field may be null, which is what it is when it is left out."""
    kinds = field.get("anyOf", [])
    if {"type": "null"} in kinds:
        (kind,) = [each for each in kinds if each != {"type": "null"}]
        del field["anyOf"], field["default"]
        field.update(kind)
