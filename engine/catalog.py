"""Circuits by name: where their files are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import examples
from config import nearest
from engine.errors import EngineError
from engine.gpus import proving_devices
from engine.kept_files import NONE, KeptFiles
from engine.limits import proving_threads
from policy import Priority

if TYPE_CHECKING:
    from config import CircuitConfig, Config


@dataclass(frozen=True)
class CircuitSpec:
    """A circuit to prove: its key, and its witness as a file or as a calculator with inputs.

    proving_threads: how many threads prove, which the working memory depends on; 0: every processor.
    device_memory_bytes: of the largest device that proves in memory of its own; 0: there is none, or enough.
    development: the key at `zkey` is made from `r1cs` on first use (see `development_keys`).
    """

    name: str
    zkey: Path
    wasm: Path | None = None
    witness: Path | None = None
    inputs: Path | None = None
    r1cs: Path | None = None
    partitions: int = 1
    priority: Priority = Priority.NORMAL
    proving_threads: int = 0
    device_memory_bytes: int = 0
    development: bool = False
    derived: KeptFiles = NONE  # what is derived from the key (see `key_cache`)
    table: bool = False  # whether sums use a table of multiples (see `tables`)

    def __post_init__(self) -> None:
        if (self.witness is None) == (self.wasm is None or self.inputs is None):
            raise ValueError(f"circuit {self.name}: expected a witness, or a wasm with inputs")

    @property
    def key_remedy(self) -> str:
        """What to add to a message about a damaged key: how one that this program made is made again."""
        return f"; delete {self.zkey}, and the next run makes it again" if self.development else ""


def resolve(name: str, config: Config) -> CircuitSpec:
    """The circuit of that name in the settings, else the bundled one.

    Raises EngineError, with the nearest name, where there is none, and for a GPU that is not there.
    """
    if name in config.circuits:
        return _on_this_machine(_configured(name, config.circuits[name]), config)
    if name in examples.CIRCUITS:
        return _on_this_machine(_bundled(examples.CIRCUITS[name], config.srs.param_cache), config)
    known = [*config.circuits, *examples.CIRCUITS]
    guess = nearest(name, known)
    meant = f"did you mean {guess!r}?" if guess else f"there are {', '.join(known)}"
    raise EngineError(f"circuit {name!r} is neither in [circuits] of the settings nor bundled; {meant}")


def _on_this_machine(spec: CircuitSpec, config: Config) -> CircuitSpec:
    return replace(
        spec,
        proving_threads=proving_threads(config),
        device_memory_bytes=max(device.memory_bytes or 0 for device in proving_devices(config)),
        derived=derived_files(config.srs.param_cache, config.srs.derived_limit),
    )


def derived_files(param_cache: Path, limit_bytes: int) -> KeptFiles:
    """Where what is derived from keys is kept: beside the development keys."""
    return KeptFiles(param_cache / "derived", limit_bytes)


def _configured(name: str, circuit: CircuitConfig) -> CircuitSpec:
    return CircuitSpec(
        name=name,
        zkey=circuit.zkey,
        wasm=circuit.wasm,
        witness=circuit.witness,
        inputs=circuit.inputs,
        r1cs=circuit.r1cs,
        partitions=circuit.partitions,
        priority=Priority[circuit.priority.upper()],
    )


def _bundled(circuit: examples.BundledCircuit, param_cache: Path) -> CircuitSpec:
    # The key belongs to what is in the circuit's file, whatever version of this program brought it.
    digest = hashlib.sha256(circuit.r1cs.read_bytes()).hexdigest()[:16]
    return CircuitSpec(
        name=circuit.name,
        zkey=param_cache / f"{circuit.name}-{digest}-development.zkey",
        wasm=circuit.wasm,
        inputs=circuit.inputs,
        r1cs=circuit.r1cs,
        development=True,
    )
