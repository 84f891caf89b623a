"""Operations on eight field elements side by side, to be called from kernels.

F is a `LaneField` passed as a token, from `lanes_of`. An element, eight at a time, is in registers: a tuple
of F.limbs vectors of eight 64-bit lanes over a prime field, a pair of those over its quadratic extension. It
is in Montgomery form with R = 2^(52·limbs) and *normal* (every limb below 2^52), but reduced only as far as
is said: bounds are multiples of the modulus p, for each coordinate. R is 84·p for BN254, 35·p for BLS12-381's
scalars and 2^35·p for its coordinates.

    mul, square     operands below i·p and j·p, i·j·p ≤ R, over a quadratic field 4·i·j·p ≤ R; the result is
                    below 2·p, over a quadratic field 3·p
    add, double     bounds add up, to R at most
    sub, neg        sub(F, a, b, k) = a − b + k·p, k a literal, b ≤ k·p: the bound is a's plus k, R at most
    reduce          any normal element to below p + p/2^14, in the time of a quarter of a product
    canonical       any normal element to below p
    subtract_once   the same in half the time for an element below 2·p

*Raw* elements (`mul_raw`, `add_raw`, `sub_raw`) have limbs that were not carried: signed, and the sum of at
most 32 products' limbs. `carry` makes them normal. Only sums, `carry`, `select` and `store` take them raw.

Arrays of lanes are uint64, C-contiguous, addressed as groups of eight elements: (groups, limbs, 8), or
(groups, 2, limbs, 8) over a quadratic field; `empty` makes one. Arrays of rows are those of
`kernels.cpu.field`: (n, L) 64-bit words, or (n, 2, L). No bounds are checked.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from kernels.cpu import lane_reductions, lane_sums, limbs52
from kernels.cpu.ifma import LANES, VECTOR
from kernels.cpu.lane_arrays import (
    broadcast_row,
    gather_rows,
    load,
    load_rows,
    load_rows_shifted,
    scatter_rows,
    store,
    store_rows,
)
from kernels.cpu.lane_field import LaneField
from kernels.cpu.lane_tokens import check, empty, lane_intrinsic, lanes_of, literal_intrinsic
from kernels.fields import QuadraticField
from kernels.intrinsics import flatten, pack

__all__ = [
    "LANES",
    "LaneField",
    "broadcast_row",
    "empty",
    "gather_rows",
    "lanes_of",
    "load",
    "load_rows",
    "load_rows_shifted",
    "scatter_rows",
    "store",
    "store_rows",
]

# ruff: noqa: ARG001 — numba gives an intrinsic its typing context first, wanted or not


@lane_intrinsic
def add(context: Any, F: Any, a: Any, b: Any) -> Any:
    """add(F, a, b) = a + b."""
    return _operation("add", F, a, b)


@lane_intrinsic
def add_raw(context: Any, F: Any, a: Any, b: Any) -> Any:
    """add_raw(F, a, b) = a + b, raw."""
    return _operation("add_raw", F, a, b)


@lane_intrinsic
def double(context: Any, F: Any, a: Any) -> Any:
    """double(F, a) = 2·a."""
    return _operation("double", F, a)


@literal_intrinsic
def sub(context: Any, F: Any, a: Any, b: Any, multiple: Any) -> Any:
    """sub(F, a, b, k) = a − b + k·p for a literal k with b ≤ k·p."""
    return _operation("sub", F, a, b, multiple=multiple)


@literal_intrinsic
def sub_raw(context: Any, F: Any, a: Any, b: Any, multiple: Any) -> Any:
    """sub_raw(F, a, b, k) = a − b + k·p for a literal k, raw."""
    return _operation("sub_raw", F, a, b, multiple=multiple)


@literal_intrinsic
def neg(context: Any, F: Any, a: Any, multiple: Any) -> Any:
    """neg(F, a, k) = k·p − a for a literal k with a ≤ k·p."""
    return _operation("neg", F, a, multiple=multiple)


@lane_intrinsic
def mul(context: Any, F: Any, a: Any, b: Any) -> Any:
    """mul(F, a, b) = a·b; on limbs: the Montgomery product a·b/R."""
    return _operation("mul", F, a, b)


@lane_intrinsic
def mul_raw(context: Any, F: Any, a: Any, b: Any) -> Any:
    """mul_raw(F, a, b) = a·b, raw; over a prime field only."""
    return _operation("mul_raw", F, a, b)


@lane_intrinsic
def square(context: Any, F: Any, a: Any) -> Any:
    """square(F, a) = a²."""
    return _operation("square", F, a)


@lane_intrinsic
def carry(context: Any, F: Any, a: Any) -> Any:
    """carry(F, a): a raw element made normal; its value must not be negative."""
    return _operation("carry", F, a)


@lane_intrinsic
def reduce(context: Any, F: Any, a: Any) -> Any:
    """reduce(F, a): the same modulo p, below p + p/2^14."""
    return _operation("reduce", F, a)


@lane_intrinsic
def canonical(context: Any, F: Any, a: Any) -> Any:
    """canonical(F, a): the same modulo p, below p."""
    return _operation("canonical", F, a)


@lane_intrinsic
def subtract_once(context: Any, F: Any, a: Any) -> Any:
    """subtract_once(F, a): the same modulo p, below p, of a normal element below 2·p."""
    return _operation("subtract_once", F, a)


@lane_intrinsic
def zero(context: Any, F: Any) -> Any:
    """zero(F) = 0 in every lane."""
    return _constant(F, 0)


@lane_intrinsic
def one(context: Any, F: Any) -> Any:
    """one(F) = 1 in every lane, in Montgomery form."""
    check(F)
    return _constant(F, F.description.montgomery_one)


@lane_intrinsic
def squared_shift(context: Any, F: Any) -> Any:
    """squared_shift(F) = R²/2^(128·L) in every lane, in Montgomery form."""
    check(F)
    lanes = F.description
    return _constant(F, (lanes.montgomery_one << 2 * lanes.shift) % lanes.prime.modulus)


@lane_intrinsic
def is_zero(context: Any, F: Any, a: Any) -> Any:
    """is_zero(F, a) -> uint8, bit l set where lane l is a multiple of p."""
    check(F, a)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        zeros = lane_reductions.is_zero(builder, F.description, flatten(builder, arguments[1]))
        return lane_sums.as_mask(builder, zeros)

    return types.uint8(F, a), codegen


@lane_intrinsic
def select(context: Any, F: Any, mask: Any, a: Any, b: Any) -> Any:
    """select(F, mask, a, b): a in the lanes whose bit of the uint8 mask is set, b in the others."""
    check(F, a, b)
    if mask != types.uint8:
        raise TypingError(f"a mask is uint8, not {mask}")

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        a, b = (flatten(builder, each) for each in arguments[2:])
        return pack(builder, F.description.field, lane_sums.select(builder, arguments[1], a, b))

    return F.element(F, mask, a, b), codegen


@lane_intrinsic
def align_frame(context: Any, F: Any) -> Any:
    """align_frame(F): keeps vectors that do not fit into registers from straddling cache lines.

    LLVM aligns the caller's stack for a variable that must be aligned, but not for such vectors.
    """
    check(F)

    def codegen(context: Any, builder: Any, _: Any, __: Any) -> Any:
        with builder.goto_entry_block():
            variable = builder.alloca(VECTOR)
            variable.align = 8 * LANES
        used = ir.FunctionType(ir.VoidType(), [variable.type])
        builder.asm(used, "", "r", [variable], True)
        return context.get_dummy_value()

    return types.void(F), codegen


def _operation(name: str, F: Any, *operands: Any, multiple: Any = None) -> tuple[Any, Callable[..., Any]]:
    check(F, *operands)
    if multiple is not None and not isinstance(multiple, types.IntegerLiteral):
        raise TypingError(f"the multiple of p must be a literal integer, not {multiple}")
    if name == "mul_raw" and isinstance(F.description.field, QuadraticField):
        raise TypingError("mul_raw works over prime fields only")
    count = 0 if multiple is None else multiple.literal_value
    literal = () if multiple is None else (multiple,)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        vectors = [flatten(builder, value) for value in arguments[1 : 1 + len(operands)]]
        result = limbs52.call(builder, F.description, name, *vectors, multiple=count)
        return pack(builder, F.description.field, result)

    return F.element(F, *operands, *literal), codegen


def _constant(F: Any, value: int) -> tuple[Any, Callable[..., Any]]:
    check(F)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        lanes = F.description
        vectors = lane_sums.constant(value, lanes.limbs)
        vectors += lane_sums.constant(0, lanes.vectors - lanes.limbs)
        return pack(builder, lanes.field, vectors)

    return F.element(F), codegen
