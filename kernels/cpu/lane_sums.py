"""Sums, differences and choices of elements in lanes, and the carries that they need, as LLVM code."""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from kernels.cpu.ifma import LANES, LIMB_BITS, LIMB_MASK, VECTOR, Vectors, splat
from kernels.cpu.lane_field import LaneField
from kernels.cpu.words import Builder

INT32 = ir.IntType(32)


def constant(value: int, limbs: int) -> Vectors:
    """A number that is known now, in every lane; normal."""
    return [splat(value >> LIMB_BITS * i & LIMB_MASK) for i in range(limbs)]


def broadcast(builder: Builder, values: Sequence[Any]) -> Vectors:
    """Each i64 in every lane of a vector."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)
    return [
        builder.shuffle_vector(builder.insert_element(undefined, value, INT32(0)), undefined, everywhere)
        for value in values
    ]


def carry(builder: Builder, a: Vectors) -> Vectors:
    """Raw to normal; the value must be in [0, R)."""
    result = list(a)
    for i in range(len(a) - 1):
        over = builder.ashr(result[i], splat(LIMB_BITS))
        result[i] = builder.and_(result[i], splat(LIMB_MASK))
        result[i + 1] = builder.add(result[i + 1], over)
    return result


def add_raw(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:  # noqa: ARG001 — as every body
    return [builder.add(x, y) for x, y in zip(a, b, strict=True)]


def add(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    return carry(builder, add_raw(builder, F, a, b))


def sub_raw(builder: Builder, F: LaneField, a: Vectors, b: Vectors, multiple: int) -> Vectors:
    """a + multiple·p − b; the sum with the constant comes first, as it needs no b, which is often late."""
    above = constant(multiple * F.prime.modulus, F.limbs)
    return [builder.sub(builder.add(x, c), y) for x, c, y in zip(a, above, b, strict=True)]


def sub(builder: Builder, F: LaneField, a: Vectors, b: Vectors, multiple: int) -> Vectors:
    return carry(builder, sub_raw(builder, F, a, b, multiple))


def neg(builder: Builder, F: LaneField, a: Vectors, multiple: int) -> Vectors:
    return sub(builder, F, constant(0, F.limbs), a, multiple)


def double(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    return add(builder, F, a, a)


def select(builder: Builder, mask: Any, a: Vectors, b: Vectors) -> Vectors:
    """a in the lanes whose bit of the i8 mask is set, b in the others."""
    lanes = builder.bitcast(mask, ir.VectorType(ir.IntType(1), LANES))
    return [builder.select(lanes, x, y) for x, y in zip(a, b, strict=True)]


def as_mask(builder: Builder, lanes: Any) -> Any:
    """<8 x i1> -> i8."""
    return builder.bitcast(lanes, ir.IntType(8))


def halves(a: Vectors) -> tuple[Vectors, Vectors]:
    """c0 and c1 of an element over a quadratic field."""
    return a[: len(a) // 2], a[len(a) // 2 :]
