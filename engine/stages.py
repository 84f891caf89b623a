"""The stages of one partition: witness, synthesize, quotient, prove, verify.

Each takes the Work, blocks, and spreads its kernels over threads by `run`; a `run` of the partition's own
raises `Stopped` between two chunks once it is to end. Memory that a stage is to free is gone when it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.freeing import Watched
from engine.work import Work
from groth16.matrices import Matrices
from groth16.prover import blind
from groth16.prover import prove as prove_points
from groth16.quotient import quotient as quotient_scalars
from groth16.synthesis import synthesize as synthesize_rows
from groth16.verification_key import VerificationKey
from groth16.verifier import verify as verify_proof
from groth16.witness import Witness
from groth16.zkey import ProvingKey, check_pair
from kernels.cpu.ntt import Domain
from kernels.encoding import limbs_to_ints
from kernels.parallel import Run, serial

if TYPE_CHECKING:
    from engine.gpu import Gpu


def witness(work: Work, compute: Callable[[], Witness], run: Run = serial) -> None:
    """Read or compute the witness, on one of `run`'s threads; InputError where it is malformed or of another
    circuit or curve.
    """
    work.check_stop()
    with work.measuring():
        (work.witness,) = run(compute, [()])
    assert work.witness is not None, "it was read or computed"
    check_pair(work.header, work.witness)
    work.public = limbs_to_ints(work.witness.values[1 : work.header.n_public + 1])
    work.measure()


def synthesize(work: Work, matrices: Matrices, run: Run) -> None:
    """Make a, b and c of phase 1."""
    work.check_stop()
    assert work.witness is not None, "the witness comes first"
    work.evaluations = synthesize_rows(matrices, work.witness, work.header.domain_size, run)
    work.measure()


def quotient(work: Work, domain: Domain, run: Run) -> None:
    """Make the quotient's scalars and free the rest of phase 1."""
    work.check_stop()
    assert work.evaluations is not None, "synthesis comes first"
    watched = Watched(work.evaluations.a, work.evaluations.b, work.evaluations.c)
    with work.measuring():
        evaluations, work.evaluations = work.evaluations, None
        work.scalars = quotient_scalars(domain, evaluations, run)
        del evaluations
    watched.wait_until_free(except_for=work.scalars)  # the scalars may lie in what was a


def prove(work: Work, key: ProvingKey, run: Run) -> None:
    """Make the proof and free phase 2: what is left of the partition is a proof and its public signals."""
    work.check_stop()
    assert work.witness is not None, "the witness comes first"
    assert work.scalars is not None, "the quotient comes first"
    with work.measuring():
        work.proof = prove_points(key, work.witness, work.scalars, run)
    work.release().wait_until_free()


def prove_on_gpu(work: Work, gpu: Gpu, entry_key: str, key: ProvingKey, matrices: Matrices, run: Run) -> None:
    """Make the proof from the witness, or from a and b where they were made, and keep all that was there.

    Raises OutOfDeviceMemory, and DeviceLost, after which the device must not be used any more.
    """
    work.check_stop()
    assert work.witness is not None, "the witness comes first"
    with work.measuring():
        sums = gpu.sums(entry_key, key, matrices, work.witness, work.evaluations, run)
        work.proof = blind(key, sums)


def verify(work: Work, vk: VerificationKey) -> None:
    """Check the proof by pairing; VerificationFailed where the witness does not satisfy the circuit."""
    work.check_stop()
    assert work.proof is not None, "the proof comes first"
    verify_proof(vk, work.public, work.proof)
