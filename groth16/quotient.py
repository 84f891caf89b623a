"""The quotient h = (A·B − C)/Z as snarkjs's keys want it: by its values on the odd coset.

With n the domain's size, A·B − C has degree below 2n and vanishes on <w_2n>'s even powers, the domain; its
values on the odd powers w_2n·<w_n> therefore determine it. The key holds the Lagrange basis of those points,
over delta, so these values are the scalars of its MSM and no division by Z takes place.
"""

from __future__ import annotations

from groth16.synthesis import Evaluations, Scalars
from kernels.cpu.ntt import Domain
from kernels.cpu.vectors import multiply_subtract
from kernels.parallel import Run, run_chunks


def quotient(domain: Domain, evaluations: Evaluations, run: Run) -> Scalars:
    """The values of A·B − C on the odd coset: (domain_size, 4) uint64 limbs, canonical, below the modulus.

    Takes the arrays out of `evaluations` and overwrites them; the result lies in what was a, and b and c are
    free when this returns. Raises ValueError for arrays of another size than the domain's, and for a domain
    whose double exceeds the field's 2-adicity.
    """
    field, domain_size = domain.field, domain.size
    a, b, c = evaluations.take()
    r = field.montgomery_one
    for values, factor in ((a, r), (b, 1), (c, r)):  # a·R and b: their Montgomery product is canonical
        domain.to_odd_coset(values, run, factor)
    run_chunks(run, multiply_subtract, domain_size, field, a, a, b, c)
    return a
