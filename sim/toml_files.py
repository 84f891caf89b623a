"""Reading a profile or workload from TOML, and saying in one line what is wrong with it."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config import nearest
from config.files import read_text
from sim.errors import SimError
from sim.quantities import IN_A_FILE

M = TypeVar("M", bound=BaseModel)
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text in quotes",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table of keys",
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "too_short": "at least {min_length} of them",
    "literal_error": "{expected}",
}


def read_toml(path: Path, example: str) -> dict[str, Any]:
    """The tables of a file. Raises SimError, which names `example` to write it by."""
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        raise SimError(f"{path}: cannot be read: {error.strerror}; give a file such as {example}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SimError(f"{path}: not TOML: {error}; write it as in {example}") from error


def validated(model: type[M], values: Any, where: str, example: str) -> M:
    """The model of what a file says. Raises SimError: where, which key, what was found, what was expected."""
    try:
        return model.model_validate(values, context=IN_A_FILE)
    except ValidationError as error:
        # A misspelt key first: what it was to be is then missing as well.
        problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        raise SimError(f"{where}: {_describe(problems[0], model)}; write it as in {example}") from error


def said_of(error: ValidationError) -> str:
    """What is wrong with a single value."""
    return _said(error.errors()[0])


def _describe(problem: ErrorDetails, model: type[BaseModel]) -> str:
    place, kind = problem["loc"], problem["type"]
    key = ".".join(map(str, place)) or "the file"
    if kind == "extra_forbidden":
        known = _keys(model, place[:-1])
        guess = nearest(str(place[-1]), known)
        hint = f"did you mean {guess!r}" if guess else f"expected one of {', '.join(known)}"
        return f"unknown key {key!r}; {hint}"
    if kind == "missing":
        return f"{key} is missing"
    return f"{key}: {_said(problem)}"


def _said(problem: ErrorDetails) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    expected = _EXPECTED[kind].format(**context) if kind in _EXPECTED else problem["msg"].lower()
    return f"found {problem['input']!r:.60}, expected {expected}"


def _keys(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The keys that are known at a place: those of the model whose field the place's names lead to."""
    for step in place:
        field = model.model_fields.get(str(step))
        if field is not None:
            found = _models_in(field.annotation)
            model = found[0] if found else model
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]
