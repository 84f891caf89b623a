"""The stages of a proof in this process, one after another. Importing it loads the compiler."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from engine import diagnosis, stages
from engine.circuit import OpenCircuit
from engine.loading import LoadedKey, LoadedMatrices
from engine.work import Work
from groth16.errors import VerificationFailed
from groth16.witness import Witness
from kernels.parallel import Run

Timed = Callable[[str], AbstractContextManager[None]]


def take_witness(circuit: OpenCircuit, witness: Callable[[], Witness]) -> Work:
    """A proof's work with its witness. Raises InputError for one of another circuit."""
    work = Work(circuit.header)
    stages.witness(work, witness)
    return work


def prove(work: Work, circuit: OpenCircuit, run: Run, timed: Timed) -> None:
    """From the witness to a proof that was checked; `timed(stage)` is held around each stage."""
    with timed("load"):
        key, pce = (circuit.loaders[each](run, True) for each in (circuit.srs_key, circuit.pce_key))
    assert isinstance(key, LoadedKey)
    assert isinstance(pce, LoadedMatrices)
    with timed("synthesize"):
        stages.synthesize(work, pce.matrices, run)
    with timed("quotient"):
        stages.quotient(work, pce.domain, run)
    with timed("prove"):
        stages.prove(work, key.proving_key, run)
    with timed("verify"):
        _verify(work, key, circuit)


def _verify(work: Work, key: LoadedKey, circuit: OpenCircuit) -> None:
    try:
        stages.verify(work, key.verification_key)
    except VerificationFailed as error:
        raise diagnosis.explain(circuit, error) from error
