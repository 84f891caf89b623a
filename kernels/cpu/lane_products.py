"""Montgomery products of elements in lanes over a prime field, as LLVM code.

With IFMA a product is 4·n² multiply-adds (Gueron and Krasnov, "Accelerating big integer arithmetic using
Intel IFMA extensions", 2016). For n = 8 a raw limb of a product is below 2^57, so 32 of them can be added.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from kernels.cpu.ifma import LIMB_BITS, LIMB_MASK, Vectors, add_high, add_low, splat
from kernels.cpu.lane_field import LaneField
from kernels.cpu.lane_sums import broadcast, carry
from kernels.cpu.words import I64, Builder


def _add_row(
    builder: Builder, F: LaneField, total: Vectors, at: int, row: Sequence[Any], factor: Any
) -> None:
    """total += row·factor·2^(52·at)"""
    for j, x in enumerate(row):
        total[at + j] = add_low(builder, F.emulated, total[at + j], x, factor)
    for j, x in enumerate(row):
        total[at + j + 1] = add_high(builder, F.emulated, total[at + j + 1], x, factor)


def _cancel_limb(builder: Builder, F: LaneField, total: Vectors, i: int) -> None:
    """Adds the multiple of p·2^(52·i) that clears limb i, whose value so far goes up as a carry.

    The cleared limb is a multiple of 2^52, and its carry that of the limb rounded up: no need to wait for
    the multiple. The carry is signed, as limbs may be.
    """
    *p, negated_inverse = _modulus_in_memory(builder, F)
    factor = add_low(builder, F.emulated, splat(0), total[i], negated_inverse)
    over = builder.ashr(builder.add(total[i], splat(LIMB_MASK)), splat(LIMB_BITS))
    over = add_high(builder, F.emulated, over, p[0], factor)
    for j in range(1, F.limbs):
        total[i + j] = add_low(builder, F.emulated, total[i + j], p[j], factor)
    for j in range(1, F.limbs):
        total[i + j + 1] = add_high(builder, F.emulated, total[i + j + 1], p[j], factor)
    total[i + 1] = builder.add(total[i + 1], over)


def _modulus_in_memory(builder: Builder, F: LaneField) -> Vectors:
    """The modulus and −1/p mod 2^52, from memory: a multiply-add takes such an operand as it is, whereas LLVM
    makes constants anew in every product. It must not know that nobody writes there.
    """
    module, p = builder.module, F.prime.modulus
    name = f"cuzk.lanes.{F.limbs}.{p:x}"
    if name not in module.globals:
        limbs = [p >> LIMB_BITS * i & LIMB_MASK for i in range(F.limbs)]
        limbs.append(-pow(p, -1, 1 << LIMB_BITS) % (1 << LIMB_BITS))
        variable = ir.GlobalVariable(module, ir.ArrayType(I64, len(limbs)), name)
        variable.linkage = "linkonce_odr"
        variable.initializer = ir.Constant(variable.value_type, limbs)
    pointer = module.globals[name].bitcast(I64.as_pointer())
    return broadcast(builder, [builder.load(pointer.gep([I64(i)])) for i in range(F.limbs + 1)])


def mul_raw(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    """a·b/R + less than p. Rows and reductions take turns, a row ahead of what waits for the one before."""
    total = [splat(0)] * (2 * F.limbs)
    _add_row(builder, F, total, 0, a, b[0])
    for i in range(F.limbs):
        if i + 1 < F.limbs:
            _add_row(builder, F, total, i + 1, a, b[i + 1])
        _cancel_limb(builder, F, total, i)
    return total[F.limbs :]


def mul(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    return carry(builder, mul_raw(builder, F, a, b))


def square(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    return montgomery(builder, F, wide_square(builder, F, a))


def montgomery(builder: Builder, F: LaneField, wide: Vectors) -> Vectors:
    """A number of 2·n raw limbs, in [0, p·R), to it /R, normal and below 2·p."""
    total = list(wide)
    for i in range(F.limbs):
        _cancel_limb(builder, F, total, i)
    return carry(builder, total[F.limbs :])


def wide_product(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    """a·b in 2·n raw limbs."""
    total = [splat(0)] * (2 * F.limbs)
    for i in range(F.limbs):
        _add_row(builder, F, total, i, a, b[i])
    return total


def wide_square(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """a² in 2·n raw limbs: products of different limbs once, doubled, then the limbs' squares."""
    total = [splat(0)] * (2 * F.limbs)
    for i in range(F.limbs - 1):
        _add_row(builder, F, total, 2 * i + 1, a[i + 1 :], a[i])
    total = [builder.add(x, x) for x in total]
    for i in range(F.limbs):
        total[2 * i] = add_low(builder, F.emulated, total[2 * i], a[i], a[i])
        total[2 * i + 1] = add_high(builder, F.emulated, total[2 * i + 1], a[i], a[i])
    return total
