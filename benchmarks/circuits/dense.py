"""A chain of squarings: every wire's value looks random, and every wire has a point of A and of B.

x_{i+1} = x_i² + ADDEND for each of the constraints; x_0 is private and the last x public. The most that a
circuit of its size can cost: no scalar is short and no point missing.
"""

from __future__ import annotations

import numpy as np

from benchmarks.circuits.files import Instance
from benchmarks.circuits.terms import Terms
from groth16.r1cs import R1cs
from groth16.witness import Witness
from kernels.encoding import ints_to_limbs
from kernels.fields import Curve

ADDEND = 5
SEED = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251  # any number: the first x


def dense(curve: Curve, n_constraints: int) -> Instance:
    """Wires: 1, the last x, then x_0 to the last but one."""
    a, b, c = Terms(), Terms(), Terms()
    rows = np.arange(n_constraints)
    squared, result = rows + 2, rows + 3
    result[-1] = 1
    a.add(rows, squared, 1)
    b.add(rows, squared, 1)
    c.add(rows, result, 1)
    c.add(rows, 0, -ADDEND)
    matrices = (terms.matrix(n_constraints, curve.fr) for terms in (a, b, c))
    r1cs = R1cs(curve, n_constraints + 2, 1, 0, 1, n_constraints, *matrices)
    return Instance(r1cs, Witness(curve, ints_to_limbs(_values(curve, n_constraints), curve.fr.limbs)))


def _values(curve: Curve, n_constraints: int) -> list[int]:
    modulus = curve.fr.modulus
    chain = [SEED % modulus]
    for _ in range(n_constraints):
        chain.append((chain[-1] * chain[-1] + ADDEND) % modulus)
    return [1, chain[-1], *chain[:-1]]
