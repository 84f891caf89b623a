"""The product over a quadratic field as PTX text: three wide products, but two reductions only.

Reductions that are put off: Aranha, Karabina, Longa, Gebotys, López, "Faster explicit formulas for computing
pairings over ordinary curves", 2011, section 3.
"""

from kernels.cuda.ptx import Registers, chain, constant, scratch, words_of
from kernels.cuda.ptx_wide import multiply_wide, reduce_wide
from kernels.fields import Field


def quadratic_mul(field: Field, out: Registers, a: Registers, b: Registers) -> list[str]:
    """out = a·b/R for a0 + a1·u and b0 + b1·u, u² = −1, over the base `field`, by Karatsuba's way.

    The modulus must leave two bits free: a sum of two elements then fits, and the product of two sums.
    """
    n = words_of(field)
    low, high, both = (scratch(kind, 2 * n) for kind in "vws")
    first, second = scratch("e", n), scratch("t", n)
    lines = [*multiply_wide(low, a[:n], b[:n]), *multiply_wide(high, a[n:], b[n:])]
    lines += [*chain("add", first, a[:n], a[n:]), *chain("add", second, b[:n], b[n:])]
    lines += multiply_wide(both, first, second)
    lines += [*chain("sub", both, both, low), *chain("sub", both, both, high)]
    lines += _subtract_wide(field, low, high)
    return [*lines, *reduce_wide(field, out[:n], low), *reduce_wide(field, out[n:], both)]


def _subtract_wide(field: Field, a: Registers, b: Registers) -> list[str]:
    """a −= b; where that is negative, R times the modulus is added."""
    n = words_of(field)
    correction, upper = scratch("e", n), a[n:]
    return [
        *chain("sub", a, a, b, carry_out=True),
        "subc.u32 q,0,0;",
        *(f"and.b32 {c},q,{p};" for c, p in zip(correction, constant(field.modulus, n), strict=True)),
        *chain("add", upper, upper, correction, carry_out=True),
    ]
