"""The stages of a proof in this process, one after another. Importing it loads the compiler."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from engine import diagnosis, stages
from engine.circuit import OpenCircuit
from engine.devices import ProvingDevice
from engine.errors import EngineError
from engine.loading import LoadedKey, LoadedMatrices
from engine.work import Work
from groth16.errors import VerificationFailed
from groth16.witness import Witness
from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory
from kernels.parallel import Run
from policy import Device

Timed = Callable[[str], AbstractContextManager[None]]


def take_witness(circuit: OpenCircuit, witness: Callable[[], Witness]) -> Work:
    """A proof's work with its witness. Raises InputError for one of another circuit."""
    work = Work(circuit.header)
    stages.witness(work, witness)
    return work


def prove(work: Work, circuit: OpenCircuit, device: Device | None, run: Run, timed: Timed) -> None:
    """From the witness to a proof that was checked; `timed(stage)` is held around each stage.

    device: the GPU that proves; None: the processors do. Raises EngineError where it cannot.
    """
    with timed("load"):
        key, pce = (circuit.loaders[each](run, True) for each in (circuit.srs_key, circuit.pce_key))
    assert isinstance(key, LoadedKey)
    assert isinstance(pce, LoadedMatrices)
    if device is None:
        _prove_on_processors(work, key, pce, run, timed)
    else:
        _prove_on_gpu(work, circuit, key, pce, device, run, timed)
    with timed("verify"):
        _verify(work, key, circuit)


def _prove_on_processors(work: Work, key: LoadedKey, pce: LoadedMatrices, run: Run, timed: Timed) -> None:
    with timed("synthesize"):
        stages.synthesize(work, pce.matrices, run)
    with timed("quotient"):
        stages.quotient(work, pce.domain, run)
    with timed("prove"):
        stages.prove(work, key.proving_key, run)


def _prove_on_gpu(
    work: Work,
    circuit: OpenCircuit,
    key: LoadedKey,
    pce: LoadedMatrices,
    device: Device,
    run: Run,
    timed: Timed,
) -> None:
    with timed("open the GPU"):
        gpu = ProvingDevice(device).gpu_for(circuit.header)
    if gpu is None:
        raise EngineError(f"{circuit.spec.zkey}: has too small a domain for a GPU; leave out --device")
    with timed("prove"):
        try:
            stages.prove_on_gpu(work, gpu, circuit.srs_key, key.proving_key, pce.matrices, run)
        except (OutOfDeviceMemory, DeviceLost) as error:
            raise EngineError(f"{error}; without --device the processors prove") from error
    gpu.close()


def _verify(work: Work, key: LoadedKey, circuit: OpenCircuit) -> None:
    try:
        stages.verify(work, key.verification_key)
    except VerificationFailed as error:
        raise diagnosis.explain(circuit, error) from error
