"""Products of elements in lanes over the quadratic extension by u² = −1, as LLVM code.

Every instruction but loads and stores waits for the same two ports, so the fewest win. For limbs n = 5 and 8
they are, multiply-adds and everything else,
    product    Karatsuba with two reductions     250 + 123    640 + 204
               four products, two reductions     300 +  69    768 + 114
    square     three squares, two reductions     190 + 130    472 + 217
               (a0 + a1)(a0 − a1) and 2·a0·a1    200 + 103    512 + 172
and where the counts are close, those with more in parallel.
"""

from collections.abc import Callable
from typing import Any

from kernels.cpu.ifma import Vectors
from kernels.cpu.lane_field import LaneField
from kernels.cpu.lane_products import montgomery, wide_product, wide_square
from kernels.cpu.lane_sums import add, constant, halves
from kernels.cpu.words import Builder


def each_half(body: Callable[..., Vectors]) -> Callable[..., Vectors]:
    def both(builder: Builder, F: LaneField, *arguments: Any) -> Vectors:
        operands = [halves(each) for each in arguments if isinstance(each, list)]
        extra = [each for each in arguments if not isinstance(each, list)]
        return [
            vector
            for half in (0, 1)
            for vector in body(builder, F.base, *(operand[half] for operand in operands), *extra)
        ]

    return both


def quadratic_mul(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    """Karatsuba's three products, none of them reduced, and one reduction for each coefficient."""
    base, (a0, a1), (b0, b1) = F.base, halves(a), halves(b)
    low, high = wide_product(builder, base, a0, b0), wide_product(builder, base, a1, b1)
    mixed = wide_product(builder, base, add(builder, base, a0, a1), add(builder, base, b0, b1))
    return _from_karatsuba(builder, base, low, high, mixed)


def quadratic_square(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """As `quadratic_mul`; three squares are cheaper than two products."""
    base, (a0, a1) = F.base, halves(a)
    squares = (wide_square(builder, base, x) for x in (a0, a1, add(builder, base, a0, a1)))
    return _from_karatsuba(builder, base, *squares)


def _from_karatsuba(
    builder: Builder, base: LaneField, low: Vectors, high: Vectors, mixed: Vectors
) -> Vectors:
    """(low − high + p·R)/R and (mixed − low − high)/R."""
    real = [builder.sub(x, y) for x, y in zip(low, high, strict=True)]
    for i, c in enumerate(constant(base.prime.modulus, base.limbs)):
        real[base.limbs + i] = builder.add(real[base.limbs + i], c)
    imaginary = [builder.sub(builder.sub(z, x), y) for x, y, z in zip(low, high, mixed, strict=True)]
    return montgomery(builder, base, real) + montgomery(builder, base, imaginary)
