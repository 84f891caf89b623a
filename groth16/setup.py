"""A single-party setup for development: a proving key whose secrets one machine has held.

UNSAFE FOR PRODUCTION: whoever keeps tau, alpha, beta or delta can prove anything. They live in this
process's memory while `setup` runs, and nowhere else; Python cannot wipe them.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groth16.key_scalars import Toxic, domain_size_of, draw_toxic, key_scalars, with_binding_rows
from groth16.r1cs import Csr, R1cs
from groth16.zkey import KeyPoints
from groth16.zkey_writer import KeyMatrices, write_proving_key
from kernels.cpu.fixed_base import multiply_generator
from kernels.cpu.vectors import to_montgomery
from kernels.encoding import ints_to_limbs
from kernels.fields import Field, Group
from kernels.parallel import Run, run_chunks, serial

Limbs = NDArray[np.uint64]
Multiply = Callable[[Group, Limbs, Run], Limbs]
"""`kernels.cpu.fixed_base.multiply_generator`, or the same on a device."""


def setup(r1cs: R1cs, path: str | Path, run: Run, multiply: Multiply = multiply_generator) -> None:
    """Write a proving key for the circuit, in snarkjs's conventions (gamma = 1), from fresh secrets.

    Takes about four multiplications of a generator a wire and one a row of the domain, and the key's size in
    memory. Raises InputError if the circuit is too large for its curve or the file cannot be written.
    """
    domain_size = domain_size_of(r1cs)
    points = key_points(r1cs, domain_size, draw_toxic(r1cs.curve.fr, domain_size), run, multiply)
    write_proving_key(path, r1cs.curve, points, key_matrices(r1cs, domain_size, run), circuit_hash(r1cs))


def key_points(
    r1cs: R1cs, domain_size: int, toxic: Toxic, run: Run, multiply: Multiply = multiply_generator
) -> KeyPoints:
    """The key's points for known secrets; `multiply` makes the long arrays."""
    g1, g2 = r1cs.curve.g1, r1cs.curve.g2
    scalars = key_scalars(r1cs, domain_size, toxic, run)
    alpha_g1, beta_g1, delta_g1 = _multiples(g1, toxic.alpha, toxic.beta, toxic.delta)
    beta_g2, gamma_g2, delta_g2 = _multiples(g2, toxic.beta, 1, toxic.delta)
    return KeyPoints(
        alpha_g1=alpha_g1,
        beta_g1=beta_g1,
        beta_g2=beta_g2,
        gamma_g2=gamma_g2,
        delta_g1=delta_g1,
        delta_g2=delta_g2,
        ic=multiply_generator(g1, scalars.ic, run),
        a=multiply(g1, scalars.a, run),
        b_g1=multiply(g1, scalars.b, run),
        b_g2=multiply(g2, scalars.b, run),
        c=multiply(g1, scalars.c, run),
        h=multiply(g1, scalars.h, run),
    )


def _multiples(group: Group, *scalars: int) -> Limbs:
    return multiply_generator(group, ints_to_limbs(scalars, 4), serial)


def key_matrices(r1cs: R1cs, domain_size: int, run: Run) -> KeyMatrices:
    """A with the binding rows, and B, coefficients times R² as a key stores them."""
    a, b = (_times_r2(r1cs.curve.fr, matrix, run) for matrix in (with_binding_rows(r1cs), r1cs.b))
    return KeyMatrices(a, b, domain_size)


def _times_r2(fr: Field, matrix: Csr, run: Run) -> Csr:
    coefficients = matrix.coefficients.copy()
    for _ in range(2):  # each time by R
        run_chunks(run, to_montgomery, len(coefficients), fr, coefficients, coefficients)
    return Csr(matrix.row_starts, matrix.columns, coefficients)


def circuit_hash(r1cs: R1cs) -> bytes:
    """64 bytes that tell circuits apart: a hash of the three matrices (snarkjs's own hashes its ceremony)."""
    digest = blake2b()
    for matrix in (r1cs.a, r1cs.b, r1cs.c):
        for array in (matrix.row_starts, matrix.columns, matrix.coefficients):
            digest.update(array.nbytes.to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
