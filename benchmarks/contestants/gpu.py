"""cuzk on a GPU as a contestant: kernels on data that lies on the device, and proofs from their witnesses."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda

from benchmarks.circuits.shaped import draw_values, porep_shape
from benchmarks.contestants.ours import coordinates, version_of
from benchmarks.contestants.serve import Job, serve
from benchmarks.gpu import partition as partitions
from benchmarks.gpu import products
from benchmarks.gpu.shaped_key import ShapedKey, make_key, multiples
from benchmarks.gpu.sums import inner_product
from groth16.cuda.key import upload_key
from groth16.cuda.matrices import evaluate, upload_matrix
from groth16.cuda.prover import multiply_all, upload_inputs
from groth16.key_scalars import draw_toxic
from groth16.matrices import read_matrices
from groth16.prover import blind
from groth16.verification_key import verification_key_of
from groth16.verifier import verify
from groth16.witness import read_witness
from groth16.zkey import read_header, read_proving_key
from kernels.cuda.device import Device
from kernels.cuda.fixed_base import FixedBase
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import msm as kernel_msm
from kernels.cuda.ntt import Domain
from kernels.cuda.quotient import quotient as kernel_quotient
from kernels.cuda.streamed import msm_streamed
from kernels.cuda.tables import make_table, msm_by_table
from kernels.cuda.transfer import Uploader, new_array
from kernels.encoding import Limbs, limbs_to_ints
from kernels.fields import CURVES, Curve, Field, Group, QuadraticField
from kernels.parallel import PoolRunner, Run

THREADS = int(os.environ.get("CONTESTANT_THREADS", "1"))
FIELDS: dict[str, Field | QuadraticField] = {
    each.name: each for curve in CURVES.values() for each in (curve.fq, curve.fq2, curve.fr)
}
DEVICE, WORKSPACE = Device(0), Workspace()
MOST_ROWS = 99  # of a table: as many as there are windows


@lru_cache
def _run() -> Run:
    return PoolRunner(ThreadPoolExecutor(THREADS), THREADS)


def _timed(work: Callable[[], Any], **job: Any) -> Job:
    """A job whose time ends when the device has done everything."""

    def run() -> Any:
        result = work()
        DEVICE.wait()
        return result

    WORKSPACE.release()
    return Job(run, **job)


def _random_scalars(curve: str, n: int, first: int = 0) -> Limbs:
    """Those that the numbers from `first` on draw."""
    scalars = np.empty((n, 4), np.uint64)
    draw_values(CURVES[curve].fr, scalars, 1.0, first, _run())
    return scalars


def _uploaded(array: Limbs) -> Any:
    return Uploader().to_device(array, _run())


def product(field: str, operation: str) -> Job:
    """Field products in registers: `details` says how many a run makes."""
    own = FIELDS[field]
    values = products.new_values(own)
    details = {"operations": products.OPERATIONS}
    return _timed(lambda: products.run(own, operation, values), details=details)


def msm(curve: str, group: str, log2_size: int) -> Job:
    """Random scalars over as many points, all on the device."""
    own, points, scalars, answer = _sum(curve, group, log2_size)
    return _timed(lambda: kernel_msm(own, points, scalars, WORKSPACE), answer=answer)


def tabled(curve: str, group: str, log2_size: int) -> Job:
    """The same with a table of the points' multiples, which is made before the clock starts."""
    own, points, scalars, answer = _sum(curve, group, log2_size)
    table = make_table(own, points, MOST_ROWS, WORKSPACE)
    return _timed(lambda: msm_by_table(own, table, scalars, WORKSPACE), answer=answer)


def streamed(curve: str, group: str, log2_size: int) -> Job:
    """The same with the points in host memory."""
    own, points, scalars, answer = _sum(curve, group, log2_size)
    host, uploader = points.copy_to_host(), Uploader()
    return _timed(lambda: msm_streamed(own, host, scalars, WORKSPACE, uploader, _run()), answer=answer)


@lru_cache(maxsize=1)  # for the ways to sum up the same points
def _sum(curve: str, group: str, log2_size: int) -> tuple[Group, Any, Any, Callable[[Limbs], str]]:
    """Group, points, scalars, and what refuses a wrong sum: it is known, as the points' logarithms are."""
    own = CURVES[curve].g1 if group == "g1" else CURVES[curve].g2
    scalars, logarithms = (_uploaded(_random_scalars(curve, 1 << log2_size, first)) for first in (0, 1 << 32))
    points = new_array((1 << log2_size, *own.point_shape), np.uint64)
    base = FixedBase(own, WORKSPACE)
    base.multiply(logarithms, points)
    expected = multiples(base, [inner_product(CURVES[curve].fr, logarithms, scalars)])[0]

    def answer(got: Limbs) -> str:
        if not np.array_equal(got, expected):
            raise ValueError(f"a sum of 2^{log2_size} points in {own.name} is wrong")
        return coordinates(own, got)

    return own, points, scalars, answer


def ntt(curve: str, log2_size: int, natural: bool = False) -> Job:
    """Forward, in place; the values come out in bit-reversed order unless they are to be in natural order."""
    domain, values = Domain(CURVES[curve].fr, log2_size), _uploaded(_random_scalars(curve, 1 << log2_size))
    in_a_row = max(16, 1 << 26 >> log2_size)  # a device that was idle takes longer to begin than a short one

    def transform() -> None:
        for _ in range(in_a_row):
            domain.forward(values) if natural else domain.split(values)

    return _timed(transform, times=in_a_row)


def quotient(curve: str, log2_size: int) -> Job:
    """From a, b and c to the quotient's values; a second run takes the first one's result for an input."""
    domain, scalars = Domain(CURVES[curve].fr, log2_size), _random_scalars(curve, 1 << log2_size)
    arrays = [_uploaded(scalars) for _ in range(3)]
    return _timed(lambda: kernel_quotient(domain, *arrays))


def spmv(zkey: str, wtns: str) -> Job:
    """Both matrices times the witness, all on the device."""
    header = read_header(zkey)
    matrices, values = read_matrices(header), _uploaded(read_witness(wtns).values)
    rows = [upload_matrix(matrix, Uploader(), _run()) for matrix in (matrices.a, matrices.b)]
    results = [new_array((header.domain_size, 4), np.uint64) for _ in rows]

    def multiply() -> None:
        for matrix, result in zip(rows, results, strict=True):
            evaluate(header.curve.fr, matrix, values, result)

    return _timed(multiply)


def upload(size_bytes: int) -> Job:
    """An array of host memory that is no longer new."""
    source, uploader = np.ones(size_bytes, np.uint8), Uploader()
    target = new_array(source.shape, source.dtype)
    return _timed(lambda: uploader.upload(target, source, _run()))


def setup(curve: str, constraints: int) -> Job:
    """A key of a PoRep partition's proportions, as `partition` proves with; it stays on the device."""
    _free_kept()
    return _timed(lambda: _make_key(CURVES[curve], constraints))


def partition(curve: str, constraints: int, percent: int) -> Job:
    """From a, b and the witness on the device to a proof, which is verified when the clock has stopped."""
    _sum.cache_clear()
    key = _key(curve, constraints)
    own = partitions.make_partition(key, porep_shape(constraints, percent / 100), _run())

    def answer(proof: Any) -> str:
        partitions.check(own, proof)
        partitions.refill(own)
        DEVICE.wait()
        return "verified"

    return _timed(lambda: partitions.prove(own, WORKSPACE), answer=answer)


def _free_kept() -> None:
    _sum.cache_clear()
    _key.cache_clear()


@lru_cache(maxsize=1)
def _key(curve: str, constraints: int) -> ShapedKey:
    key = _make_key(CURVES[curve], constraints)
    WORKSPACE.release()
    return key


def _make_key(curve: Curve, constraints: int) -> ShapedKey:
    shape = porep_shape(constraints, 1.0)
    domain = Domain(curve.fr, (shape.n_constraints + shape.n_public).bit_length())
    return make_key(curve, shape, domain, draw_toxic(curve.fr, domain.size), WORKSPACE)


def proof(zkey: str, wtns: str, proofs: int = 1) -> Job:
    """From the witness in host memory to a proof, with the key on the device; `proofs` one after the other.

    `details` says how much device memory its arrays held after the first run and hold after the last.
    """
    key, witness, uploader = read_proving_key(zkey), read_witness(wtns), Uploader()
    own = upload_key(key, read_matrices(key.header), uploader, _run())
    public = limbs_to_ints(witness.values[1 : 1 + key.header.n_public])
    details: dict[str, Any] = {}

    def prove() -> Any:
        for _ in range(proofs):
            inputs = upload_inputs(witness, None, uploader, WORKSPACE, _run())
            proof = blind(key, multiply_all(own, inputs, WORKSPACE, _run()))
        return proof

    def answer(proof: Any) -> str:
        verify(verification_key_of(key), public, proof)
        details["held_bytes"] = sum(DEVICE.held_bytes())
        details.setdefault("first_held_bytes", details["held_bytes"])
        return "verified"

    return _timed(prove, answer=answer, details=details)


TASKS: dict[str, Callable[..., Job]] = {
    "msm": msm,
    "ntt": ntt,
    "partition": partition,
    "product": product,
    "proof": proof,
    "quotient": quotient,
    "setup": setup,
    "spmv": spmv,
    "streamed": streamed,
    "tabled": tabled,
    "upload": upload,
}


if __name__ == "__main__":
    if not cuda.is_available():
        raise SystemExit("Error: this machine has no NVIDIA GPU, or no driver for it")
    name = cuda.get_current_device().name
    own = name.decode() if isinstance(name, bytes) else name
    serve(f"{version_of('cuzk')} ({own}, numba-cuda {version_of('numba-cuda')})", TASKS)
