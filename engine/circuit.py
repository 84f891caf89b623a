"""A circuit's bytes and cache entries, and how each entry is loaded.

What loads or calculates is imported when it is needed: sizes and a head need no compiler.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import format_size
from engine.caches import Loader
from engine.calculator_size import compiled_bytes, inputs_bytes, instance_bytes
from engine.catalog import CircuitSpec
from engine.errors import EngineError
from engine.key_notes import known_pce_bytes
from engine.limits import threads
from groth16 import device_sizes, sizes
from groth16.circuit_check import check_circuit
from groth16.errors import InputError
from groth16.inputs import read_inputs
from groth16.opening import refusal_of_kind
from groth16.witness import Witness, read_witness
from groth16.zkey import KeyHeader, read_header
from kernels.parallel import Run
from kernels.stop_flag import StopFlag
from policy import Circuit, Entry

if TYPE_CHECKING:
    from groth16.witness_calculator import WitnessCalculator


@dataclass(frozen=True)
class OpenCircuit:
    """A circuit of whose key the head was read: all that is known before anything large is loaded.

    The three keys name entries of `shape` and of `loaders`.
    """

    spec: CircuitSpec
    header: KeyHeader
    shape: Circuit
    srs_key: str
    pce_key: str
    calculator_key: str | None
    loaders: Mapping[str, Loader]

    def witness_source(
        self, calculator: WitnessCalculator | None, stop: StopFlag | None = None
    ) -> Callable[[], Witness]:
        """How to get the witness. A calculator that is needed and not given is made when it is called.

        Once `stop` is set a calculation ends with Stopped.
        """
        if self.spec.witness is not None:
            return partial(read_witness, self.spec.witness)
        return partial(_calculate, self.spec, calculator, stop)

    def up_to(self, stage: str) -> OpenCircuit:
        """The circuit for work that ends with that stage, and so takes less than a proof."""
        shape, name = self.shape, f"{self.shape.name} ({stage})"
        if stage == "load":
            return replace(self, shape=Circuit(name, shape.entries, 0, 0))
        if stage == "synthesize":
            return replace(self, shape=Circuit(name, shape.entries, shape.phase1_bytes, shape.phase2_bytes))
        return self

    def describe(self, stage: str) -> str:
        """What the stage works on, in a few words."""
        header = self.header
        return {
            "load": ", ".join(f"{key.split(':')[0]} {format_size(size)}" for key, size in self._sizes()),
            "synthesize": f"{header.n_variables} wires, domain {header.domain_size}",
            "prove": f"{header.curve.name}, domain {header.domain_size}",
            "verify": "pairing equation holds",
        }[stage]

    def _sizes(self) -> list[tuple[str, int]]:
        return [(entry.key, entry.size_bytes) for entry in self.shape.entries]


def load_shape(spec: CircuitSpec) -> Circuit:
    """What the policy reasons about: bytes and entries. Reads the key's head. Raises as `open_circuit`."""
    return open_circuit(spec).shape


def open_circuit(spec: CircuitSpec, said_bytes: dict[str, int] | None = None) -> OpenCircuit:
    """Read the key's head and size everything. Raises InputError or EngineError for an unusable file.

    How much a PCE takes may be known only after its first load (see `key_notes`). What was said of it before
    stands for a policy that has heard it: `said_bytes` holds that, by the entry's key, and is added to.
    """
    header = read_header(spec.zkey)
    for path in (spec.witness, spec.inputs, spec.r1cs):
        if path is not None:  # refused now rather than in the middle of a batch
            file_identity(path)
            _check_kind(path, as_stream=path == spec.inputs)
    if spec.r1cs is not None:
        check_circuit(header, spec.r1cs)
    key = file_identity(spec.zkey)
    srs_key, pce_key = f"srs+table:{key}" if spec.table else f"srs:{key}", f"pce:{key}"
    srs_bytes = header.srs_bytes + (sizes.table_bytes(header) if spec.table else 0)
    said_bytes = {} if said_bytes is None else said_bytes
    pce_bytes = said_bytes.setdefault(pce_key, known_pce_bytes(header, spec.derived))
    entries = [Entry(srs_key, srs_bytes), Entry(pce_key, pce_bytes)]
    loaders: dict[str, Loader] = {
        srs_key: partial(_same_file, spec.zkey, key, partial(_load_key, spec, _load_srs)),
        pce_key: partial(_same_file, spec.zkey, key, partial(_load_key, spec, _load_pce)),
    }
    calculator_key = None
    phase1_bytes = sizes.phase1_bytes(header)
    phase2_bytes = sizes.phase2_bytes(header, threads(spec.proving_threads), spec.table)
    if spec.wasm is not None:
        wasm = file_identity(spec.wasm)
        calculator_key = f"wasm:{wasm}"
        entries.append(Entry(calculator_key, compiled_bytes(spec.wasm)))
        loaders[calculator_key] = partial(_same_file, spec.wasm, wasm, partial(_load_calculator, spec.wasm))
        # The calculator is gone before a, b, c are made: the working set has to hold the greater of the two.
        assert spec.inputs is not None, "a calculator has inputs"
        calculation_bytes = (
            instance_bytes(spec.wasm) + inputs_bytes(spec.inputs) + sizes.witness_bytes(header)
        )
        phase1_bytes = max(phase1_bytes, calculation_bytes - phase2_bytes)
    device_bytes, device_entry = 0, None
    if header.domain_size >= device_sizes.LEAST_DOMAIN:
        device_bytes = device_sizes.working_bytes(header)
        streamed = device_sizes.is_streamed(header, spec.device_memory_bytes)
        device_entry = Entry(srs_key, device_sizes.key_bytes(header, streamed))
    shape = Circuit(spec.name, tuple(entries), phase1_bytes, phase2_bytes, device_bytes, device_entry)
    return OpenCircuit(spec, header, shape, srs_key, pce_key, calculator_key, loaders)


def file_identity(path: Path) -> str:
    """A name for what is in the file now: one that takes its place has another. Raises EngineError."""
    try:
        found = path.stat()
    except OSError as error:
        raise EngineError(f"{path}: cannot be read ({error.strerror}); check its path") from error
    identity = f"{path.resolve()} {found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns}"
    return f"{path.name}#{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def _check_kind(path: Path, as_stream: bool) -> None:
    if (refusal := refusal_of_kind(path, as_stream=as_stream)) is not None:
        raise InputError(f"{path}: {refusal}")


def _same_file(path: Path, identity: str, load: Loader, run: Run, first: bool) -> object:
    """Load the file that the reservation was made for, and no other that took its place."""
    loaded = load(run, first)
    if file_identity(path) != identity:
        raise EngineError(f"{path}: was replaced while a proof waited for it; submit the proof again")
    return loaded


def _load_key(
    spec: CircuitSpec, load: Callable[[CircuitSpec, Run, bool], object], run: Run, first: bool
) -> object:
    """Load part of the key; what is wrong with one that this program made can be mended by it."""
    try:
        return load(spec, run, first)
    except InputError as error:
        if not spec.key_remedy:
            raise
        raise EngineError(f"{error}{spec.key_remedy}") from error


def _load_srs(spec: CircuitSpec, run: Run, first: bool) -> object:
    from engine.loading import load_srs

    return load_srs(spec, run, first)


def _load_pce(spec: CircuitSpec, run: Run, _first: bool) -> object:
    from engine.loading import load_pce

    return load_pce(spec, run)


def _load_calculator(path: Path, _run: Run, _first: bool) -> object:
    from groth16.witness_calculator import WitnessCalculator

    return WitnessCalculator(path)


def _calculate(spec: CircuitSpec, calculator: WitnessCalculator | None, stop: StopFlag | None) -> Witness:
    assert spec.wasm is not None, "a circuit without a witness has a calculator"
    assert spec.inputs is not None, "a calculator has inputs"
    inputs = read_inputs(spec.inputs)  # before a calculator is compiled for them
    from groth16.witness_calculator import WitnessCalculator

    return (calculator or WitnessCalculator(spec.wasm)).calculate(inputs, spec.inputs, stop)
