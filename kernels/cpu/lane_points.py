"""Affine points in lanes: loads by number, and the steps of an addition that are no product.

The map (x, y) → (c²·x, c³·y) takes a curve y² = x³ + b to another such curve, and the sum of two points to
the sum of their images. Memory holds x·2^(64·L), lanes want x·R, R = 2^(64·L + shift). With c = 2^−k for the
largest k that leaves shift − 3·k ≥ 0, x and y need be shifted by shift − 2·k and shift − 3·k bits only: their
bounds are 4 and 2 over BN254, not 16, and over BLS12-381 2^12 and 4, not 2^32. So no point need be reduced
when it is loaded.

Bounds, in multiples of p, are `x_bound` and `y_bound` for x and y of every point here. Infinity has x = 0,
all limbs zero, and y any multiple of p. A code is twice a point's number, plus 1 for −point.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from kernels.cpu import lane_memory, lane_sums, limbs52
from kernels.cpu.ifma import LANES, Vectors, splat
from kernels.cpu.lane_field import LaneField
from kernels.cpu.lane_tokens import check, check_indices, lane_intrinsic
from kernels.cpu.words import I64
from kernels.fields import Field
from kernels.intrinsics import flatten, pack, to_array

MOST_ROUNDS = 7  # of additions, each with the sums of the one before, which `y_bound` allows for
INT32 = ir.IntType(32)
BYTES = ir.IntType(8).as_pointer()
CACHE_LINE_BYTES = 64

# ruff: noqa: ARG001 — numba gives an intrinsic its typing context first, wanted or not


def scale(F: LaneField) -> int:
    """k: lanes hold x and y over 2^(2·k) and 2^(3·k)."""
    return F.shift // 3


def x_bound(F: LaneField) -> int:
    """2^(bits that x is shifted by), or 2 where that is too much and x is reduced on its way."""
    shifted = 1 << (F.shift - 2 * scale(F))
    return shifted if shifted <= _most(F) else 2


def y_bound(F: LaneField) -> int:
    """Room for the sum of y and a product from each round, or 2 where there is none and sums are reduced."""
    product = 2 if isinstance(F.field, Field) else 3
    grown = (1 << (F.shift - 3 * scale(F))) + MOST_ROUNDS * product
    return grown if grown <= _most(F) else 2


def _most(F: LaneField) -> int:
    """The largest bound whose double, a difference, may be multiplied by a product."""
    spare = (1 << F.shift + 64 * F.prime.limbs) // F.prime.modulus
    return spare // (2 * 2) if isinstance(F.field, Field) else spare // (4 * 3 * 2)


@lane_intrinsic
def load_points(context: Any, F: Any, points: Any, codes: Any, at: Any) -> Any:
    """load_points(F, points, codes, at) -> x, y of the points codes[at] to codes[at + 7].

    points: bytes at any address, affine points as rows in Montgomery form with 2^(64·L).
    """
    _check_points(F, points, codes)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes: LaneField = F.description
        rows = _point_pointers(context, builder, signature, arguments, LANES)
        words = lane_memory.load_rows(
            builder, [builder.bitcast(row, I64.as_pointer()) for row in rows], 2 * lanes.words
        )
        x = _shifted(builder, lanes, words[: lanes.words], lanes.shift - 2 * scale(lanes))
        if x_bound(lanes) == 2:
            x = limbs52.call(builder, lanes, "reduce", x)
        y_shift = lanes.shift - 3 * scale(lanes)
        y = _shifted(builder, lanes, words[lanes.words :], y_shift)
        opposite = limbs52.call(builder, lanes, "neg", y, multiple=1 << y_shift)
        odd = _odd_codes(context, builder, signature, arguments)
        return _pair(builder, lanes, x, lane_sums.select(builder, odd, opposite, y))

    return types.UniTuple(F.element, 2)(F, points, codes, types.intp), codegen


@lane_intrinsic
def prefetch_points(context: Any, F: Any, points: Any, codes: Any, at: Any) -> Any:
    """prefetch_points(F, points, codes, at): starts to fetch the points codes[at] to codes[at + 3], to L2.

    Of more at a time, a core's line fill buffers would keep the loads that follow waiting.
    """
    _check_points(F, points, codes)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [BYTES, INT32, INT32, INT32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [BYTES], kind)
        how = INT32(0), INT32(2), INT32(1)  # to be read, in the second cache, data
        size = 2 * 8 * F.description.words
        for row in _point_pointers(context, builder, signature, arguments, LANES // 2):
            for offset in (*range(0, size, CACHE_LINE_BYTES), size - 1):
                line = builder.gep(row, [ir.Constant(I64, offset)])
                builder.call(prefetch, [line, *how])
        return context.get_dummy_value()

    return types.void(F, points, codes, types.intp), codegen


@lane_intrinsic
def x_difference(context: Any, F: Any, a: Any, b: Any) -> Any:
    """x_difference(F, a, b) = a − b of two x; its bound is a's and `x_bound`."""
    return _step(F, [a, b], lambda builder, lanes, a, b: _sub(builder, lanes, a, b, x_bound(lanes)))


@lane_intrinsic
def y_difference(context: Any, F: Any, a: Any, b: Any) -> Any:
    """y_difference(F, a, b) = a − b of two y; its bound is a's and `y_bound`."""
    return _step(F, [a, b], lambda builder, lanes, a, b: _sub(builder, lanes, a, b, y_bound(lanes)))


@lane_intrinsic
def opposite_y(context: Any, F: Any, y: Any) -> Any:
    """opposite_y(F, y) = −y, reduced."""

    def body(builder: Any, lanes: LaneField, y: Vectors) -> Vectors:
        opposite = limbs52.call(builder, lanes, "neg", y, multiple=y_bound(lanes))
        return limbs52.call(builder, lanes, "reduce", opposite)

    return _step(F, [y], body)


@lane_intrinsic
def third_x(context: Any, F: Any, square: Any, x: Any, other_x: Any) -> Any:
    """third_x(F, square, x, other_x) = square − x − other_x, reduced; square is a product."""

    def body(builder: Any, lanes: LaneField, square: Vectors, x: Vectors, other_x: Vectors) -> Vectors:
        both = limbs52.call(builder, lanes, "add_raw", x, other_x)
        total = limbs52.call(builder, lanes, "sub_raw", square, both, multiple=2 * x_bound(lanes))
        return limbs52.call(builder, lanes, "reduce", limbs52.call(builder, lanes, "carry", total))

    return _step(F, [square, x, other_x], body)


@lane_intrinsic
def third_y(context: Any, F: Any, product: Any, y: Any) -> Any:
    """third_y(F, product, y) = product + y, reduced where `y_bound` demands it."""

    def body(builder: Any, lanes: LaneField, product: Vectors, y: Vectors) -> Vectors:
        total = limbs52.call(builder, lanes, "add", product, y)
        return limbs52.call(builder, lanes, "reduce", total) if y_bound(lanes) == 2 else total

    return _step(F, [product, y], body)


@lane_intrinsic
def x_to_rows(context: Any, F: Any, x: Any) -> Any:
    """x_to_rows(F, x): as `lanes.store_rows` is to store it, for `load_points`; fully reduced."""
    return _unscaled(F, x, 2)


@lane_intrinsic
def y_to_rows(context: Any, F: Any, y: Any) -> Any:
    """y_to_rows(F, y): the same for y."""
    return _unscaled(F, y, 3)


@lane_intrinsic
def zero_limbs(context: Any, F: Any, a: Any) -> Any:
    """zero_limbs(F, a) -> uint8, bit l set where all limbs of lane l are zero."""
    check(F, a)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        first, *others = flatten(builder, arguments[1])
        for each in others:
            first = builder.or_(first, each)
        return lane_sums.as_mask(builder, builder.icmp_unsigned("==", first, splat(0)))

    return types.uint8(F, a), codegen


def _unscaled(F: Any, a: Any, power: int) -> tuple[Any, Callable[..., Any]]:
    def body(builder: Any, lanes: LaneField, a: Vectors) -> Vectors:
        factor = (1 << 64 * lanes.prime.limbs + power * scale(lanes)) % lanes.prime.modulus
        vectors = lane_sums.constant(factor, lanes.limbs)
        vectors += lane_sums.constant(0, lanes.vectors - lanes.limbs)
        return limbs52.call(builder, lanes, "canonical", limbs52.call(builder, lanes, "mul", a, vectors))

    return _step(F, [a], body)


def _step(F: Any, operands: list[Any], body: Callable[..., Vectors]) -> tuple[Any, Callable[..., Any]]:
    check(F, *operands)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        vectors = [flatten(builder, each) for each in arguments[1:]]
        return pack(builder, F.description.field, body(builder, F.description, *vectors))

    return F.element(F, *operands), codegen


def _sub(builder: Any, F: LaneField, a: Vectors, b: Vectors, multiple: int) -> Vectors:
    return limbs52.call(builder, F, "sub", a, b, multiple=multiple)


def _check_points(F: Any, points: Any, codes: Any) -> None:
    check(F)
    check_indices(codes)
    if not isinstance(points, types.Array) or points.layout != "C" or points.dtype != types.uint8:
        raise TypingError(f"points are C-contiguous bytes, not {points}")
    if codes.dtype != types.uint32:
        raise TypingError(f"codes are uint32, not {codes.dtype}")


def _code_pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[2])(context, builder, arguments[2]).data
    return builder.gep(data, [arguments[3]])


def _point_pointers(context: Any, builder: Any, signature: Any, arguments: Any, count: int) -> list[Any]:
    """The addresses of the first `count` lanes' points, as bytes."""
    data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
    first = _code_pointer(context, builder, signature, arguments)
    size = ir.Constant(I64, 2 * 8 * signature.args[0].description.words)
    pointers = []
    for lane in range(count):
        code = builder.zext(builder.load(builder.gep(first, [ir.Constant(I64, lane)])), I64)
        number = builder.lshr(code, ir.Constant(I64, 1))
        pointers.append(builder.gep(data, [builder.mul(number, size)]))
    return pointers


def _odd_codes(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """An i8 mask of the lanes whose codes are odd."""
    kind = ir.VectorType(INT32, LANES)
    first = _code_pointer(context, builder, signature, arguments)
    codes = builder.load(builder.bitcast(first, kind.as_pointer()), align=4)
    odd = builder.and_(codes, ir.Constant(kind, [1] * LANES))
    return lane_sums.as_mask(builder, builder.icmp_unsigned("!=", odd, ir.Constant(kind, [0] * LANES)))


def _shifted(builder: Any, F: LaneField, words: Vectors, shift: int) -> Vectors:
    length = F.prime.limbs
    return [
        limb
        for at in range(0, len(words), length)
        for limb in lane_memory.to_limbs(builder, words[at : at + length], F.limbs, shift)
    ]


def _pair(builder: Any, F: LaneField, x: Vectors, y: Vectors) -> Any:
    return to_array(builder, [pack(builder, F.field, each) for each in (x, y)])
