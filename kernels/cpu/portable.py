"""Montgomery products in plain LLVM code, for every processor."""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from kernels.cpu.words import I64, WORD_MASK, Builder, Words, constant
from kernels.fields import Field

I128 = ir.IntType(128)


def product(builder: Builder, field: Field, pairs: Sequence[tuple[Words, Words]]) -> Words:
    """Emits Σ a·b / R over the pairs, below 2·p.

    CIOS without its second carry word, for which the moduli are small enough (Koç, Acar, Kaliski, "Analyzing
    and comparing Montgomery multiplication algorithms", 1996).
    """
    modulus = constant(field.modulus, field.limbs)
    negated_inverse = ir.Constant(I64, -pow(field.modulus, -1, 1 << 64) & WORD_MASK)
    zero = ir.Constant(I64, 0)
    total: Words = [zero] * field.limbs
    for i in range(field.limbs):
        top = zero
        for a, b in pairs:
            carry = zero
            for j in range(field.limbs):
                total[j], carry = multiply_add(builder, a[j], b[i], total[j], carry)
            top = builder.add(top, carry)
        factor = builder.mul(total[0], negated_inverse)
        _, carry = multiply_add(builder, factor, modulus[0], total[0], zero)
        for j in range(1, field.limbs):
            total[j - 1], carry = multiply_add(builder, factor, modulus[j], total[j], carry)
        total[-1] = builder.add(top, carry)
    return total


def multiply_add(builder: Builder, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """(low, high) words of a·b + c + d, which always fits in two."""
    a, b, c, d = (builder.zext(word, I128) for word in (a, b, c, d))
    total = builder.add(builder.add(builder.mul(a, b), c), d)
    return builder.trunc(total, I64), builder.trunc(builder.lshr(total, ir.Constant(I128, 64)), I64)
