"""A circuit opened for measuring in this process, and threads to measure it with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from config import Config, format_size
from engine import CircuitSpec, compile_for_key, prepare, resolve
from engine.circuit import OpenCircuit, open_circuit
from engine.errors import EngineError
from engine.limits import memory
from engine.thread_names import show_name
from groth16.witness import Witness
from kernels.parallel import PoolRunner

Say = Callable[[str], None]
WITNESS, SIGNALS = ".wtns", ".json"


def opened_circuit(name: str, config: Config, inputs: Path | None, say: Say) -> OpenCircuit:
    """The circuit of that name, its key and kernels ready. `inputs`: in place of its own.

    Raises EngineError or InputError for what cannot be used, and for what this machine cannot hold.
    """
    spec = resolve(name, config)
    if inputs is not None:
        spec = with_input(spec, inputs)
    prepare(spec, say)
    compile_for_key(spec.zkey, say)
    circuit = open_circuit(spec)
    load_kernels(circuit)
    needed_bytes, found = circuit.shape.entries_bytes + circuit.shape.working_bytes, memory()
    if needed_bytes > found.available_bytes:
        raise EngineError(f"circuit {name!r} takes {format_size(needed_bytes)}, but {found.describe()}")
    return circuit


def load_kernels(circuit: OpenCircuit) -> None:
    """Load synthesis's kernels, so that a first run is as quick as the others."""
    from kernels.cpu.warmup import steps_of

    steps_of("prove")["matrix products"](circuit.header.curve)


def with_input(spec: CircuitSpec, path: Path) -> CircuitSpec:
    """The circuit with another witness or other signals, by the file's name. Raises EngineError."""
    if path.suffix == WITNESS:
        return replace(spec, witness=path, wasm=None, inputs=None)
    if path.suffix != SIGNALS:
        raise EngineError(f"{path}: expected a witness (.wtns) or input signals (.json)")
    if spec.wasm is None:
        raise EngineError(
            f"{path}: circuit {spec.name!r} has no wasm to compute a witness from it; give a .wtns"
        )
    return replace(spec, inputs=path)


def witness_of(circuit: OpenCircuit, stopwatch: Stopwatch) -> Witness:
    """Read, or calculated by a calculator that is made once and timed as "calculator"."""
    if circuit.calculator_key is None:
        with stopwatch.timed("witness"):
            return circuit.witness_source(None)()
    from groth16.witness_calculator import WitnessCalculator

    assert circuit.spec.wasm is not None, "a calculator has a file"
    with stopwatch.timed("calculator"):
        calculator = WitnessCalculator(circuit.spec.wasm)
    with stopwatch.timed("witness"):
        return circuit.witness_source(calculator)()


@dataclass
class Stopwatch:
    """Seconds by what took them, each as often as it was timed."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time the block; one that fails counts for nothing."""
        begun_s = time.perf_counter()
        yield
        self.seconds.setdefault(name, []).append(time.perf_counter() - begun_s)


@contextmanager
def kernel_threads(count: int) -> Iterator[PoolRunner]:
    """So many threads for kernels, which end with the block."""
    with ThreadPoolExecutor(count, "kernels", show_name) as pool:
        yield PoolRunner(pool, count)
