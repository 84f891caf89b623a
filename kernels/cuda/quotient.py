"""The quotient's values on a device: what `groth16.quotient` does, with the last steps in one kernel."""

from typing import Any

from numba import cuda

from kernels.cuda import field as f
from kernels.cuda.launch import kernel, launch
from kernels.cuda.ntt import Domain


@kernel
def _multiply_subtract(F: Any, a: Any, b: Any, c: Any) -> None:
    """a = a·b − c: the product and c are without a factor R, which the last product brings in."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        value = f.sub(F, f.mul(F, f.load(F, a, i), f.load(F, b, i)), f.load(F, c, i))
        f.store(F, a, i, f.mul(F, value, f.r_squared(F)))


def quotient(domain: Domain, a: Any, b: Any, c: Any) -> None:
    """a = the values of A·B − C on the odd coset, canonical: the scalars of the quotient's sum.

    a, b and c: values on the domain (`ntt.Domain`), all overwritten; a and b canonical and c = C/R, as a
    Montgomery product of canonical values is (see `groth16.synthesis.Evaluations`).
    """
    for values in (a, b, c):
        domain.to_odd_coset(values)
    launch(_multiply_subtract, domain.size, domain.field, a, b, c)
