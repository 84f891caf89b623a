"""Synthesis: from the witness w to a = A·w and b = B·w by sparse products, and c = a∘b.

As snarkjs does, c is not C·w but the product: for a witness that satisfies the circuit they are the same, so
a proving key need not carry C. A witness that does not satisfy it gives a proof that does not verify.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.matrices import Matrices, Matrix
from groth16.witness import Witness
from kernels.cpu.spmv import add_products, sum_units
from kernels.cpu.vectors import multiply
from kernels.fields import Field
from kernels.parallel import Run, balanced_chunks, run_chunks, threads_of

Scalars = NDArray[np.uint64]


@dataclass
class Evaluations:
    """a, b and c on the domain <w_n>: (domain_size, 4) uint64 limbs each, below the modulus.

    a and b are canonical; c is their Montgomery product, a∘b/R. So neither the witness nor a sum of its
    values ever needs a product to change its form: the quotient's transforms multiply by R on their way.
    """

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
    if len(witness.values) < matrices.n_wires:
        raise InputError(
            f"the witness has {len(witness.values)} values, the circuit {matrices.n_wires} wires: "
            "they are of different circuits"
        )
    a, b, c = (np.zeros((domain_size, 4), np.uint64) for _ in range(3))
    for matrix, out in ((matrices.a, a), (matrices.b, b)):
        spans = balanced_chunks(matrices.n_rows, matrix.cost_before, 4 * threads_of(run))
        run(_evaluate, [(field, out, matrix, witness.values, *span) for span in spans])
    run_chunks(run, multiply, matrices.n_rows, field, c, a, b)
    return Evaluations(a, b, c)


def _evaluate(field: Field, out: Scalars, matrix: Matrix, values: Scalars, start: int, stop: int) -> None:
    others = matrix.others
    sum_units(field, out, matrix.unit_starts, matrix.unit_columns, values, start, stop)
    add_products(field, out, others.row_starts, others.columns, others.coefficients, values, start, stop)
