"""Synthesis: from the witness w to a = A·w and b = B·w by sparse products, and c = a∘b.

As snarkjs does, c is not C·w but the product: for a witness that satisfies the circuit they are the same, so
a proving key need not carry C. A witness that does not satisfy it gives a proof that does not verify.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.matrices import Matrices
from groth16.witness import Witness
from kernels.cpu.spmv import multiply_rows
from kernels.cpu.vectors import multiply
from kernels.parallel import Run, run_chunks

Scalars = NDArray[np.uint64]


@dataclass
class Evaluations:
    """a, b and c on the domain <w_n>: (domain_size, 4) uint64 limbs each, Montgomery, below the modulus."""

    a: Scalars
    b: Scalars
    c: Scalars

    def take(self) -> tuple[Scalars, Scalars, Scalars]:
        """Hand the three arrays over to be overwritten; nothing here keeps their memory afterwards."""
        taken = self.a, self.b, self.c
        del self.a, self.b, self.c
        return taken


def synthesize(matrices: Matrices, witness: Witness, domain_size: int, run: Run) -> Evaluations:
    """Evaluate the rows of A and B at the witness; the domain beyond the matrices' rows holds zeros.

    Raises InputError for a witness with too few values: kernels do not check what they index.
    """
    field = witness.curve.fr
    n_wires = max(int(matrix.columns.max(initial=0)) for matrix in (matrices.a, matrices.b)) + 1
    if len(witness.values) < n_wires:
        raise InputError(
            f"the witness has {len(witness.values)} values, the circuit at least {n_wires} wires: "
            "they are of different circuits"
        )
    a, b, c = (np.zeros((domain_size, 4), np.uint64) for _ in range(3))
    rows = matrices.n_rows
    for matrix, out in ((matrices.a, a), (matrices.b, b)):
        terms = (matrix.row_starts, matrix.columns, matrix.coefficients, witness.values)
        run_chunks(run, multiply_rows, rows, field, out, *terms)
    run_chunks(run, multiply, rows, field, c, a, b)
    return Evaluations(a, b, c)
