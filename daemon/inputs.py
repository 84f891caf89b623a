"""What clients send to be proved, as files: looked at before they are taken, readable by nobody else."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

from daemon.errors import Refused
from engine import CircuitSpec
from groth16.json_pieces import loads_in_pieces

WITNESS, SIGNALS = ".wtns", ".json"
MAGIC = b"wtns"
SMALL_BYTES = 1 << 16  # which takes less than a millisecond to look at
SIGNAL = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.\[\]]{0,199}")
"""A name, which messages may repeat, and logs: values never are."""


def suffix_of(data: bytes, circuit: CircuitSpec) -> str:
    """Which file this becomes. Raises Refused, without a word of the content, for what cannot be one."""
    if data.startswith(MAGIC):
        return WITNESS
    try:
        value = json.loads(data) if len(data) <= SMALL_BYTES else loads_in_pieces(data)
    except (ValueError, RecursionError):
        raise Refused(
            f"the input of {len(data)} bytes is neither a witness (.wtns) nor JSON; expected one of both"
        ) from None
    if not isinstance(value, dict):
        raise Refused(f"the input is a JSON {type(value).__name__}, expected an object of signals")
    if not all(map(SIGNAL.fullmatch, value)):
        raise Refused("the input names a signal that no circuit can have; expected names as circom has them")
    if circuit.wasm is None:
        raise Refused(
            f"circuit {circuit.name!r} has no wasm to compute a witness from inputs; send a witness (.wtns)"
        )
    return SIGNALS


def keep(path: Path, data: bytes) -> None:
    """Write the file, which is there for good once this returns. Blocks. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def with_input(circuit: CircuitSpec, path: Path | None) -> CircuitSpec:
    """The circuit with that witness or those inputs; None: its own."""
    if path is None:
        return circuit
    if path.suffix == WITNESS:
        return replace(circuit, witness=path, wasm=None, inputs=None)
    return replace(circuit, inputs=path)
