"""Reading the file: find it, drop what is out of use with a word, check the rest, say what is wrong."""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config.environment import settings_file
from config.errors import ConfigError
from config.files import read_text
from config.model import CircuitConfig, Config
from config.names import nearest

_BUDGET = "memory.total_budget, which covers SRS, PCE and working sets alike"

_FOLLOWS = "how many partitions run follows from memory.total_budget"

UNUSED_KEYS: Mapping[tuple[str, str], str] = {
    (
        "srs",
        "preload",
    ): "is deprecated: an SRS is loaded once a proof needs it, within memory.total_budget",
    ("memory", "pinned_budget"): f"is deprecated: replaced by {_BUDGET}",
    ("memory", "working_memory_budget"): f"is deprecated: replaced by {_BUDGET}",
    (
        "synthesis",
        "partition_workers",
    ): f"is deprecated: {_FOLLOWS}",
    ("pipeline", "slot_size"): f"is not used here: {_FOLLOWS}",
    ("pipeline", "max_gpu_queue_depth"): "is not used here: replaced by pipeline.synthesis_lookahead",
}
"""Keys that cuzk knows and that have no effect here, and what took their place."""

_OFF_WITH_PIPELINE = {
    ("pipeline", key): "has no effect: pipeline.enabled is false, so one partition is synthesized at a time"
    for key in ("synthesis_lookahead", "synthesis_concurrency")
}


def warn_on_stderr(message: str) -> None:
    """Print a warning as one line on the standard error stream."""
    print(f"cuzk: warning: {message}", file=sys.stderr)


def load_config(path: Path | str | None = None, warn: Callable[[str], None] = warn_on_stderr) -> Config:
    """The settings of `path`; without one, of $CUZK_CONFIG, else of ./cuzk.toml if there, else the defaults.

    `warn` is given one line for each key that has no effect any more. Raises ConfigError, one line, where the
    file is missing, is not TOML, or has an unknown key or a value of a wrong type, unit or range.
    """
    found = Path(path).expanduser() if path else settings_file()
    if found is None:
        return Config()
    tables = _read(found)
    for warning in _drop_unused(tables) + _without_effect(tables):
        warn(f"{found}: {warning}")
    try:
        return Config.model_validate(tables, context={"folder": found.absolute().parent})
    except ValidationError as error:
        raise ConfigError(f"{found}: {_describe(error)}") from error


def checked_config(values: Mapping[str, Any], *, written: bool = False) -> Config:
    """Settings by section and key. Raises ConfigError, one line.

    written: people wrote them, as in a file of the working folder, so sizes and durations need their units.
    """
    try:
        return Config.model_validate(values, context={"folder": Path.cwd()} if written else None)
    except ValidationError as error:
        raise ConfigError(_describe(error)) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; expected a TOML file of settings") from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        remedy = "correct it there" if isinstance(error, tomllib.TOMLDecodeError) else "save it as UTF-8"
        raise ConfigError(f"{path}: is not TOML: {error}; {remedy}") from error


def _drop_unused(tables: dict[str, Any]) -> list[str]:
    warnings = []
    for (section, key), why in UNUSED_KEYS.items():
        table = tables.get(section)
        if isinstance(table, dict) and key in table:
            del table[key]
            warnings.append(f"{section}.{key} {why}")
    return warnings


def _without_effect(tables: Mapping[str, Any]) -> list[str]:
    without_effect = {}
    pipeline = tables.get("pipeline")
    if isinstance(pipeline, dict) and pipeline.get("enabled") is False:
        without_effect = _OFF_WITH_PIPELINE
    return [
        f"{section}.{key} {why}"
        for (section, key), why in without_effect.items()
        if isinstance(table := tables.get(section), dict) and key in table
    ]


def _describe(error: ValidationError) -> str:
    problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")  # typos first
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return _describe_one(problems[0]) + more


_EXPECTED = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "a text in quotes",
    "list_type": "a list such as [0, 1]",
    "dict_type": "a table",
    "model_type": "a table of keys",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
}


def _describe_one(problem: ErrorDetails) -> str:
    *parents, last = (str(part) for part in problem["loc"] if part != "[key]")
    key = ".".join((*parents, last))
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(tuple(parents), last)
    if kind == "missing":
        return f'[{".".join(parents)}] lacks the key {last!r}; add a line {last} = "FILE"'
    if kind == "value_error":
        return f"{key}: {context['error']}"
    expected = _EXPECTED[kind].format(**context) if kind in _EXPECTED else problem["msg"]
    return f"{key}: found {_shown(problem['input'])}, expected {expected}"


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _unknown(parents: tuple[str, ...], name: str) -> str:
    if not parents:
        return f"unknown section {name!r}; {_suggestion(name, {key: key for key in Config.model_fields})}"
    known = _known_keys(circuit=parents[1] if len(parents) > 1 else "NAME")
    here = {key: full for key, full in known if full.startswith(".".join(parents) + ".")}
    suggestion = _suggestion(name, here)
    if nearest(name, here) is None and nearest(name, dict(known)):  # the right key in a wrong section
        suggestion = _suggestion(name, dict(known))
    return f"unknown key {'.'.join((*parents, name))!r}; {suggestion}"


def _suggestion(name: str, full_names: Mapping[str, str]) -> str:
    guess = nearest(name, full_names)
    return f"did you mean {full_names[guess]!r}?" if guess else f"expected one of {', '.join(full_names)}"


def _known_keys(circuit: str) -> list[tuple[str, str]]:
    """Each key with its full name, such as ("threads", "synthesis.threads")."""
    sections: dict[str, type[BaseModel]] = {f"circuits.{circuit}": CircuitConfig}
    for section, field in Config.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            sections[section] = field.annotation
    return [(key, f"{section}.{key}") for section, model in sections.items() for key in model.model_fields]
