"""The witness or input files of a batch, one for each proof."""

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from config import ConfigError
from engine import CircuitSpec, EngineError

WITNESS, SIGNALS = ".wtns", ".json"


def input_files(inputs: Sequence[Path]) -> list[Path]:
    """The files, and in place of a folder its .json and .wtns files by name. Raises ConfigError."""
    return [file for each in inputs for file in _files(each.expanduser())]


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            _check(path)
            return [path]
        files = sorted(each for each in path.iterdir() if each.suffix in (WITNESS, SIGNALS))
    except OSError as error:
        raise ConfigError(f"inputs: {path}: cannot be read ({error.strerror}); check the path") from error
    if not files:
        raise ConfigError(
            f"inputs: {path}: found neither .json nor .wtns files there, expected one for each proof"
        )
    return files


def _check(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if path.suffix not in (WITNESS, SIGNALS):
        raise ConfigError(
            f"inputs: {path}: expected a witness (.wtns), input signals (.json), or a folder of them"
        )


def with_input(circuit: CircuitSpec, path: Path) -> CircuitSpec:
    """The circuit with another witness or other inputs. Raises EngineError where it cannot use them."""
    if path.suffix == WITNESS:
        return replace(circuit, witness=path, wasm=None, inputs=None)
    if circuit.wasm is None:
        raise EngineError(
            f"{path}: circuit {circuit.name!r} has no wasm to compute a witness from it; give .wtns files"
        )
    return replace(circuit, inputs=path)
