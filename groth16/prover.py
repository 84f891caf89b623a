"""The prover: five multi-scalar multiplications and the proof's three points.

Groth, "On the Size of Pairing-based Non-interactive Arguments" (2016), section 3.2, in snarkjs's conventions.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groth16.proof import Proof
from groth16.synthesis import Scalars
from groth16.witness import Witness
from groth16.zkey import ProvingKey, check_pair
from kernels.cpu.curve import add_points, multiply_point
from kernels.cpu.msm import msm
from kernels.fields import Group
from kernels.parallel import Run

Point = NDArray[np.uint64]


@dataclass(frozen=True)
class Sums:
    """The five multi-scalar multiplications: affine points, Montgomery limbs, all zeros for the identity."""

    a: Point
    b_g1: Point
    b_g2: Point
    c: Point
    h: Point


def prove(key: ProvingKey, witness: Witness, quotient_scalars: Scalars, run: Run) -> Proof:
    """Prove; `quotient_scalars` is what `quotient` returned for this witness.

    A witness that does not satisfy the circuit still gives a proof, one that `verify` refuses. Raises
    InputError for a witness of another curve or number of wires.
    """
    check_pair(key.header, witness)
    return blind(key, multiply_all(key, witness, quotient_scalars, run))


def multiply_all(key: ProvingKey, witness: Witness, quotient_scalars: Scalars, run: Run) -> Sums:
    """The sums over the key's points of the witness's values and of the quotient's."""
    g1, g2 = key.header.curve.g1, key.header.curve.g2
    values = witness.values
    private = values[key.header.n_public + 1 :]
    return Sums(
        a=msm(g1, key.a, values, run),
        b_g1=msm(g1, key.b_g1, values, run),
        b_g2=msm(g2, key.b_g2, values, run),
        c=msm(g1, key.c, private, run),
        h=msm(g1, key.h if key.h_table is None else key.h_table, quotient_scalars, run),
    )


def blind(key: ProvingKey, sums: Sums) -> Proof:
    """The proof with two fresh blinding scalars from `secrets`, so that no two proofs are equal."""
    order = key.header.curve.fr.modulus
    return assemble(key, sums, secrets.randbelow(order), secrets.randbelow(order))


def assemble(key: ProvingKey, sums: Sums, r: int, s: int) -> Proof:
    """The proof blinded by r and s, integers below the group's order.

    A = alpha + Σ w·A + r·delta,  B = beta + Σ w·B + s·delta,  C = Σ w·C + h + s·A + r·B − r·s·delta.
    """
    curve = key.header.curve
    g1, g2 = curve.g1, curve.g2
    a = add_all(g1, sums.a, key.alpha_g1, multiply_point(g1, key.delta_g1, r))
    b = add_all(g2, sums.b_g2, key.beta_g2, multiply_point(g2, key.delta_g2, s))
    b_g1 = add_all(g1, sums.b_g1, key.beta_g1, multiply_point(g1, key.delta_g1, s))
    blinding = (
        multiply_point(g1, a, s),
        multiply_point(g1, b_g1, r),
        multiply_point(g1, key.delta_g1, -r * s % curve.fr.modulus),
    )
    return Proof(curve, a, b, add_all(g1, sums.c, sums.h, *blinding))


def add_all(group: Group, first: Point, *others: Point) -> Point:
    """The sum of affine points."""
    for point in others:
        first = add_points(group, first, point)
    return first
