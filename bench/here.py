"""Kinds of proofs of the public protocol in this process: the circuit for one, and its input."""

from __future__ import annotations

from pathlib import Path

from bench.asked import KINDS
from bench.errors import BenchError
from config import Config
from daemon.errors import NotConfigured
from daemon.kinds import SIZES, circuit_of, refuse_vanilla
from daemon.proto.cuzk.v1 import proving_pb2
from groth16.errors import InputError


def circuit_here(name: str, config: Config) -> str:
    """A circuit's own name, or that of the one for a kind. Raises BenchError where the settings have none."""
    kind = KINDS.get(name.lower())
    if kind is None:
        return name
    try:
        return circuit_of(proving_pb2.ProofKind.Value(kind), SIZES["32g"], config.daemon.circuits)
    except NotConfigured as error:
        raise BenchError(str(error)) from error


def input_here(path: Path) -> Path | None:
    """The file, which must be a witness or inputs; None of an empty one, for the circuit's own.

    Raises BenchError for a Filecoin proof's input, and InputError for what cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    if not head:
        return None
    try:
        refuse_vanilla(head)
    except NotConfigured as error:
        raise BenchError(f"{path}: {error}") from error
    return path
