"""Elements in lanes brought below the modulus, and compared with zero, as LLVM code."""

from typing import Any

from kernels.cpu.ifma import LIMB_BITS, LIMB_MASK, Vectors, add_high, add_low, splat
from kernels.cpu.lane_field import LaneField
from kernels.cpu.lane_sums import carry, constant, halves
from kernels.cpu.words import Builder
from kernels.fields import QuadraticField


def reduce(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """A normal a < R to normal a − q·p in [0, p + p/2^14).

    Let B be the highest limb's weight, t = ⌊a/B⌋ that limb, r as large as possible with 2^r·B ≤ p, and
    m = ⌊2^(52 + r)·B/p⌋, which is below 2^52. Then t·m/2^(52 + r) is at most a/p, and short of it by less
    than B/p + t/2^(52 + r) < 2^−r + 2^−r; q is that rounded down, and r ≥ 15. −q·p is added as q·(R − p),
    whose multiple of R is cut off.
    """
    p, n = F.prime.modulus, F.limbs
    r = F.prime.bits - 1 - LIMB_BITS * (n - 1)
    reciprocal = (1 << LIMB_BITS * n + r) // p
    zero = splat(0)
    quotient = builder.lshr(add_high(builder, F.emulated, zero, a[-1], splat(reciprocal)), splat(r))
    complement = constant((1 << LIMB_BITS * n) - p, n)
    total = [add_low(builder, F.emulated, x, quotient, c) for x, c in zip(a, complement, strict=True)]
    for i in range(n - 1):
        total[i + 1] = add_high(builder, F.emulated, total[i + 1], quotient, complement[i])
    total = carry(builder, total)
    return [*total[:-1], builder.and_(total[-1], splat(LIMB_MASK))]


def subtract_once(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """A normal a < 2·p to a mod p."""
    less = carry(
        builder, [builder.sub(x, c) for x, c in zip(a, constant(F.prime.modulus, F.limbs), strict=True)]
    )
    negative = builder.icmp_signed("<", less[-1], splat(0))
    return [builder.select(negative, x, y) for x, y in zip(a, less, strict=True)]


def canonical(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    return subtract_once(builder, F, reduce(builder, F, a))


def is_zero(builder: Builder, F: LaneField, a: Vectors) -> Any:
    """<8 x i1>: whether normal a is a multiple of p; after `reduce` only 0 and p are left."""
    if isinstance(F.field, QuadraticField):
        low, high = (is_zero(builder, F.base, half) for half in halves(a))
        return builder.and_(low, high)
    reduced = reduce(builder, F, a)
    return builder.or_(
        equal(builder, reduced, constant(0, F.limbs)),
        equal(builder, reduced, constant(F.prime.modulus, F.limbs)),
    )


def equal(builder: Builder, a: Vectors, b: Vectors) -> Any:
    """<8 x i1>: whether all limbs are the same."""
    difference = splat(0)
    for x, y in zip(a, b, strict=True):
        difference = builder.or_(difference, builder.xor(x, y))
    return builder.icmp_unsigned("==", difference, splat(0))
