"""One proof or one development key in this process: no policy, no history, nothing running afterwards.

What loads the compiler is imported when it is needed: half a second, in which a witness can be calculated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config import format_size
from engine.catalog import CircuitSpec
from engine.circuit import OpenCircuit, open_circuit
from engine.compiling import compile_once
from engine.errors import EngineError
from engine.kept_files import NONE, KeptFiles
from engine.limits import memory
from engine.multiplying import multiplying_on
from groth16.output import check_outputs
from groth16.r1cs import read_r1cs
from kernels.parallel import PoolRunner

if TYPE_CHECKING:
    from engine.work import Work
    from policy import Device

Report = Callable[[str], None]


@dataclass
class Outcome:
    """A verified proof in its files. `seconds`: by stage, in order, and in "total"."""

    proof: Path
    public: Path
    seconds: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"proof": str(self.proof), "public": str(self.public)}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started_s = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - started_s


def prove_files(
    zkey: Path,
    witness: Path,
    proof: Path,
    public: Path,
    *,
    threads: int,
    wasm: Path | None = None,
    r1cs: Path | None = None,
    derived: KeptFiles = NONE,
    gpu: int | None = None,
    report: Report = lambda _: None,
) -> Outcome:
    """Prove, check the proof by pairing, and write it. `witness` is the inputs' JSON where `wasm` is given.

    derived: where what is derived from the key is kept (see `key_cache`). gpu: which one proves; None: the
    processors do.

    Raises InputError or EngineError, in one line, for what cannot be used. A witness that does not satisfy
    the circuit is named by its first failing constraint where `r1cs` is given.
    """
    outcome = Outcome(proof, public)
    check_outputs([proof, public], [path for path in (zkey, witness, wasm, r1cs) if path is not None])
    spec = CircuitSpec(
        zkey.stem,
        zkey,
        wasm=wasm,
        witness=witness if wasm is None else None,
        inputs=None if wasm is None else witness,
        r1cs=r1cs,
        proving_threads=threads,
        derived=derived,
    )
    with outcome.timed("total"), ThreadPoolExecutor(threads, "kernels") as pool:
        work = _prove(spec, _device(gpu), pool, threads, outcome, report)
    from groth16.proof import write_both

    assert work.proof is not None, "a verified proof is there"
    write_both(proof, work.proof, public, work.public)
    return outcome


def setup_file(
    r1cs: Path,
    output: Path,
    *,
    threads: int,
    gpu: int | None = None,
    report: Report = lambda _: None,
    accepted: Callable[[], None] = lambda: None,
) -> float:
    """Make a proving key that is unsafe for production; returns the seconds it took.

    gpu: the number of the GPU that multiplies the generators; None: the processors do. accepted: called when
    the circuit is read and can be set up, before the work. Raises InputError, and EngineError for a GPU that
    cannot be used.
    """
    from groth16.key_scalars import domain_size_of
    from groth16.setup import setup

    check_outputs([output], [r1cs])
    _device(gpu)  # refuses one that is not there
    circuit = read_r1cs(r1cs)
    domain_size_of(circuit)  # refuses what is too large
    accepted()
    started_s = time.perf_counter()
    compile_once("setup", circuit.curve.name, report)
    with ThreadPoolExecutor(threads, "kernels") as pool, multiplying_on(gpu) as multiply:
        setup(circuit, output, PoolRunner(pool, threads), multiply)
    return time.perf_counter() - started_s


def _device(gpu: int | None) -> Device | None:
    if gpu is None:
        return None
    from engine.gpus import proving_device

    return proving_device(gpu)


def _prove(
    spec: CircuitSpec,
    device: Device | None,
    pool: ThreadPoolExecutor,
    threads: int,
    outcome: Outcome,
    report: Report,
) -> Work:
    circuit = open_circuit(spec)
    _check_memory(circuit)
    witness = pool.submit(circuit.witness_source(None))
    with outcome.timed("start"):  # loads the compiler, while a calculator leaves the interpreter to it
        from engine import one_proof
    with outcome.timed("witness"):
        work = one_proof.take_witness(circuit, witness.result)
    del witness  # or it would keep what the proof frees
    compile_once("prove", circuit.header.curve.name, report)
    if device is not None:
        compile_once("gpu", circuit.header.curve.name, report)
    one_proof.prove(work, circuit, device, PoolRunner(pool, threads), outcome.timed)
    return work


def _check_memory(circuit: OpenCircuit) -> None:
    needed_bytes, found = circuit.shape.entries_bytes + circuit.shape.working_bytes, memory()
    if needed_bytes > found.available_bytes:
        raise EngineError(
            f"{circuit.spec.zkey}: a proof takes {format_size(needed_bytes)}, but {found.describe()}"
        )
