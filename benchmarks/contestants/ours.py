"""cuzk as a contestant: its kernels, its setup and whole proofs in a process that is warm."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import products
from benchmarks.contestants.serve import Job, serve
from engine.kept_files import KeptFiles
from engine.single import prove_files, setup_file
from groth16.matrices import read_matrices
from groth16.synthesis import synthesize
from groth16.witness import read_witness
from groth16.zkey import read_header
from kernels.cpu.curve import multiply_point
from kernels.cpu.fixed_base import multiply_generator
from kernels.cpu.msm import msm as kernel_msm
from kernels.cpu.ntt import domain_of
from kernels.cpu.pairing import pairing_product_is_one
from kernels.encoding import Limbs, decode_points, encode_points
from kernels.fields import CURVES, Curve, Group
from kernels.parallel import PoolRunner, Run, serial

DERIVED_BYTES = 8 << 30
THREADS = int(os.environ.get("CONTESTANT_THREADS", "1"))


def _run() -> Run:
    return serial if THREADS == 1 else PoolRunner(ThreadPoolExecutor(THREADS), THREADS)


def _group(curve: str, group: str) -> Group:
    return CURVES[curve].g1 if group == "g1" else CURVES[curve].g2


def _limbs(path: str, *shape: int) -> Limbs:
    return np.fromfile(path, np.uint64).reshape(-1, *shape)


def coordinates(group: Group, point: Limbs) -> str:
    """Hexadecimal coordinates with commas between, empty for infinity: how contestants tell a point."""
    (decoded,) = decode_points(group, point[None])
    parts = [] if decoded is None else list(decoded)
    flat = [part for pair in parts for part in (pair if isinstance(pair, tuple) else (pair,))]
    return ",".join(f"{part:x}" for part in flat)


def make_points(curve: str, group: str, scalars: str, path: str) -> Job:
    """Multiples of the generator into a file, as a key holds them."""
    own = _group(curve, group)
    return Job(lambda: multiply_generator(own, _limbs(scalars, 4), _run()).tofile(path))


def msm(curve: str, group: str, points: str, scalars: str) -> Job:
    own = _group(curve, group)
    given = _limbs(points, *own.point_shape), _limbs(scalars, 4)
    return Job(lambda: kernel_msm(own, *given, _run()), partial(coordinates, own))


def ntt(curve: str, values: str, check: bool = False) -> Job:
    """Forward, in place: a second run transforms the first one's result, and only `check` is answered."""
    a = _limbs(values, 4)
    domain = domain_of(CURVES[curve].fr, len(a).bit_length() - 1)
    return Job(lambda: domain.forward(a, _run()), lambda _: sha256(a.tobytes()).hexdigest() if check else "")


def pairing(curve: str, pairs: int) -> Job:
    """Whether a product of pairings is one; it is: generators, and −1 of them to the last."""
    own = CURVES[curve]
    g1, g2 = _pairs(own, pairs)
    return Job(lambda: pairing_product_is_one(own, g1, g2), str)


def _pairs(curve: Curve, pairs: int) -> tuple[Limbs, Limbs]:
    g1 = encode_points(curve.g1, [curve.g1.generator])[0]
    negative = multiply_point(curve.g1, g1, curve.fr.modulus - 1)
    return np.stack([g1, negative] * (pairs // 2)), encode_points(curve.g2, [curve.g2.generator] * pairs)


def spmv(zkey: str, wtns: str) -> Job:
    """Synthesis: both matrices times the witness, and the product of the results."""
    header = read_header(zkey)
    matrices, witness = read_matrices(header), read_witness(wtns)
    return Job(lambda: synthesize(matrices, witness, header.domain_size, _run()))


def setup(r1cs: str, zkey: str, ptau: str = "") -> Job:  # noqa: ARG001 — it draws its own secrets
    return Job(lambda: setup_file(Path(r1cs), Path(zkey), threads=THREADS))


def prove(zkey: str, wtns: str, proof: str, public: str) -> Job:
    """From the files to the written proof; what is derived from the key is kept beside it."""
    details: dict[str, Any] = {}
    files = Path(zkey), Path(wtns), Path(proof), Path(public)
    derived = KeptFiles(Path(zkey).parent / "derived", DERIVED_BYTES)

    def run() -> None:
        outcome = prove_files(*files, threads=THREADS, derived=derived)
        details["stages_s"] = outcome.seconds

    return Job(run, lambda _: Path(public).read_text().replace(" ", "").replace("\n", ""), details)


def product(field: str, operation: str) -> Job:
    """Field products in registers: `details` says how many a run makes."""
    run, count, variant = products.prepare(field, operation)
    return Job(run, details={"operations": count, "variant": variant})


TASKS: dict[str, Callable[..., Job]] = {
    "make_points": make_points,
    "msm": msm,
    "ntt": ntt,
    "pairing": pairing,
    "product": product,
    "prove": prove,
    "setup": setup,
    "spmv": spmv,
}


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from its folder
        return "not installed"


if __name__ == "__main__":
    serve(version_of("cuzk"), TASKS)
