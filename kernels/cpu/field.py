"""Operations on single field elements, to be called from kernels.

F is a `Field` or a `QuadraticField` passed as a token (`kernels.cpu.tokens`). An element is in registers:
UniTuple(uint64, L) over a prime field, a pair of those over its quadratic extension; a pair (c0, c1) made or
taken apart in a kernel is as good. Elements are in Montgomery form, fully reduced, before and after.

Arrays of elements are C-contiguous uint64 of any shape, addressed as n elements in a row: element i is words
i·L to (i + 1)·L, of 2·L words over the quadratic field. No bounds are checked.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from kernels.cpu import limbs64 as code  # the limb kernel: everything here and above works on its words
from kernels.cpu.tokens import FieldType, QuadraticFieldType
from kernels.intrinsics import flatten, pack

BYTES = ir.IntType(8).as_pointer()
INT32 = ir.IntType(32)
CACHE_LINE_BYTES = 64

# ruff: noqa: ARG001 — numba gives an intrinsic its typing context first, wanted or not


def _intrinsic(definition: Callable[..., Any]) -> Any:
    """numba's decorator; callers give the arguments without the context, which mypy can't know."""
    return intrinsic(definition)


@_intrinsic
def add(context: Any, F: Any, a: Any, b: Any) -> Any:
    """add(F, a, b) = a + b."""
    return _operation("add", F, a, b)


@_intrinsic
def sub(context: Any, F: Any, a: Any, b: Any) -> Any:
    """sub(F, a, b) = a − b."""
    return _operation("sub", F, a, b)


@_intrinsic
def neg(context: Any, F: Any, a: Any) -> Any:
    """neg(F, a) = −a."""
    return _operation("neg", F, a)


@_intrinsic
def double(context: Any, F: Any, a: Any) -> Any:
    """double(F, a) = 2·a."""
    return _operation("double", F, a)


@_intrinsic
def mul(context: Any, F: Any, a: Any, b: Any) -> Any:
    """mul(F, a, b) = a·b; on words: the Montgomery product a·b/R."""
    return _operation("mul", F, a, b)


@_intrinsic
def square(context: Any, F: Any, a: Any) -> Any:
    """square(F, a) = a²."""
    return _operation("square", F, a)


@_intrinsic
def inverse(context: Any, F: Any, a: Any) -> Any:
    """inverse(F, a) = 1/a, and 0 for 0."""
    return _operation("inverse", F, a)


@_intrinsic
def to_montgomery(context: Any, F: Any, a: Any) -> Any:
    """to_montgomery(F, a): the Montgomery form of the canonical number a < p."""
    return _operation("to_montgomery", F, a)


@_intrinsic
def from_montgomery(context: Any, F: Any, a: Any) -> Any:
    """from_montgomery(F, a): the canonical number whose Montgomery form is a."""
    return _operation("from_montgomery", F, a)


@_intrinsic
def equal(context: Any, F: Any, a: Any, b: Any) -> Any:
    """equal(F, a, b) -> bool."""
    _check(F, a, b)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return code.equal(builder, flatten(builder, arguments[1]), flatten(builder, arguments[2]))

    return types.boolean(F, F.element, F.element), codegen


@_intrinsic
def is_zero(context: Any, F: Any, a: Any) -> Any:
    """is_zero(F, a) -> bool."""
    _check(F, a)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return code.equal(builder, flatten(builder, arguments[1]), code.constant(0, F.words))

    return types.boolean(F, F.element), codegen


@_intrinsic
def is_reduced(context: Any, F: Any, a: Any) -> Any:
    """is_reduced(F, a) -> bool: below the modulus, as everything here demands of what it is given."""
    _check(F, a)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return code.below_modulus(builder, F.description, flatten(builder, arguments[1]))

    return types.boolean(F, F.element), codegen


@_intrinsic
def zero(context: Any, F: Any) -> Any:
    """zero(F) = 0."""
    return _constant(F, 0)


@_intrinsic
def one(context: Any, F: Any) -> Any:
    """one(F) = 1, in Montgomery form."""
    _check(F)
    base = F.description if isinstance(F, FieldType) else F.description.base
    return _constant(F, base.montgomery_one)


@_intrinsic
def load(context: Any, F: Any, array: Any, i: Any) -> Any:
    """load(F, array, i): element i of an array, which may be its bytes at any address."""
    _check(F)
    _check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _element_pointer(context, builder, signature, arguments)
        return builder.load(pointer, align=signature.args[1].dtype.bitwidth // 8)

    return F.element(F, array, types.intp), codegen


@_intrinsic
def store(context: Any, F: Any, array: Any, i: Any, value: Any) -> Any:
    """store(F, array, i, value): sets element i of an array."""
    _check(F, value)
    _check_array(array)
    if not array.mutable or array.dtype != types.uint64:
        raise TypingError("store needs an array that may be written")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[3], _element_pointer(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(F, array, types.intp, F.element), codegen


@_intrinsic
def prefetch(context: Any, F: Any, array: Any, i: Any) -> Any:
    """prefetch(F, array, i): starts to fetch element i, to be loaded some elements later.

    For arrays read in random order: a miss takes as long as ten products, and nothing else hides it.
    """
    _check(F)
    _check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(_element_pointer(context, builder, signature, arguments), BYTES)
        kind = ir.FunctionType(ir.VoidType(), [BYTES, INT32, INT32, INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [BYTES], kind)
        for offset in (*range(0, 8 * F.words, CACHE_LINE_BYTES), 8 * F.words - 1):
            line = builder.gep(pointer, [ir.Constant(code.I64, offset)])
            builder.call(function, [line, INT32(0), INT32(3), INT32(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(F, array, types.intp), codegen


def _check(F: Any, *elements: Any) -> None:
    if not isinstance(F, (FieldType, QuadraticFieldType)):
        raise TypingError(f"the first argument must be a Field or QuadraticField, not {F}")
    for element in elements:
        if element != F.element:
            raise TypingError(f"an element of {F} is {F.element}, not {element}")


def _check_array(array: Any) -> None:
    fits = isinstance(array, types.Array) and array.dtype in (types.uint64, types.uint8)
    if not fits or array.layout != "C":
        raise TypingError(f"elements are stored in C-contiguous arrays of uint64 or bytes, not in {array}")


def _operation(name: str, F: Any, *operands: Any) -> tuple[Any, Callable[..., Any]]:
    _check(F, *operands)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        words = [flatten(builder, value) for value in arguments[1:]]
        return pack(builder, F.description, code.call(builder, F.description, name, *words))

    return F.element(F, *operands), codegen


def _constant(F: Any, value: int) -> tuple[Any, Callable[..., Any]]:
    _check(F)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return pack(builder, F.description, code.constant(value, F.words))

    return F.element(F), codegen


def _element_pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    F, array = signature.args[0], signature.args[1]
    data = context.make_array(array)(context, builder, arguments[1]).data
    first_word = builder.mul(arguments[2], ir.Constant(code.I64, F.words))
    pointer = builder.gep(builder.bitcast(data, code.I64.as_pointer()), [first_word])
    return builder.bitcast(pointer, context.get_value_type(F.element).as_pointer())
