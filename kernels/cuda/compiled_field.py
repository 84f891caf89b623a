"""`kernels.cuda.field` for the compiler: numba-cuda intrinsics that emit `words32`'s code."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

from kernels.cuda import ptx_inverse
from kernels.cuda import words32 as code
from kernels.cuda.tokens import FieldType
from kernels.intrinsics import flatten, pack

VECTOR_BYTES = 16  # what a thread reads or writes at once
VECTOR = ir.VectorType(code.I32, VECTOR_BYTES // 4)
INDEX = ir.IntType(64)

# ruff: noqa: ARG001 — numba gives an intrinsic its typing context first, wanted or not


@intrinsic
def add(context: Any, F: Any, a: Any, b: Any) -> Any:
    return _operation("add", F, a, b)


@intrinsic
def sub(context: Any, F: Any, a: Any, b: Any) -> Any:
    return _operation("sub", F, a, b)


@intrinsic
def mul(context: Any, F: Any, a: Any, b: Any) -> Any:
    return _operation("mul", F, a, b)


@intrinsic
def square(context: Any, F: Any, a: Any) -> Any:
    return _operation("square", F, a)


@intrinsic
def product_difference(context: Any, F: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return _operation("product_difference", F, a, b, c, d)


@intrinsic
def mul_often(context: Any, F: Any, a: Any, b: Any) -> Any:
    return _operation("mul", F, a, b, often=True)


@intrinsic
def square_often(context: Any, F: Any, a: Any) -> Any:
    return _operation("square", F, a, often=True)


@intrinsic
def product_difference_often(context: Any, F: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return _operation("product_difference", F, a, b, c, d, often=True)


@intrinsic
def is_zero(context: Any, F: Any, a: Any) -> Any:
    _check(F, a)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return code.equal(builder, flatten(builder, arguments[1]), code.constant(0, F.words))

    return types.boolean(F, F.element), codegen


@intrinsic
def zero(context: Any, F: Any) -> Any:
    return _constant(F, 0)


@intrinsic
def one(context: Any, F: Any) -> Any:
    _check(F)
    return _constant(F, F.base.description.montgomery_one)


@intrinsic
def plain_one(context: Any, F: Any) -> Any:
    return _constant(F, 1)


@intrinsic
def r_squared(context: Any, F: Any) -> Any:
    _check(F)
    return _constant(F, F.base.description.montgomery_r2)


@intrinsic
def modulus(context: Any, F: Any) -> Any:
    _check(F)
    return _constant(F, F.base.description.modulus)


@intrinsic
def approximate(context: Any, F: Any, u: Any, v: Any) -> Any:
    _check(F, u, v)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = code.approximate(builder, *(flatten(builder, each) for each in arguments[1:]))
        return context.make_tuple(builder, signature.return_type, words)

    return types.UniTuple(types.uint64, 2)(F, F.element, F.element), codegen


@intrinsic
def combine(context: Any, F: Any, u: Any, v: Any, f: Any, g: Any) -> Any:
    return _combination(F, ptx_inverse.combine, True, u, v)


@intrinsic
def combine_modulo(context: Any, F: Any, b: Any, c: Any, f: Any, g: Any) -> Any:
    return _combination(F, ptx_inverse.combine_modulo, False, b, c)


def _combination(F: Any, program: Any, has_sign: bool, *operands: Any) -> tuple[Any, Callable[..., Any]]:
    """An intrinsic of two elements and two signed factors; with has_sign it gives (element, is negative)."""
    _check(F, *operands)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = [flatten(builder, value) for value in arguments[1:3]]
        factors = [word for factor in arguments[3:] for word in code.size_and_sign(builder, factor)]
        *element, last = code.assemble(builder, F.description, program, F.words + has_sign, *words, factors)
        if not has_sign:
            return pack(builder, F.description, [*element, last])
        is_negative = builder.icmp_unsigned("!=", last, ir.Constant(code.I32, 0))
        parts = [pack(builder, F.description, element), is_negative]
        return context.make_tuple(builder, signature.return_type, parts)

    result = types.Tuple((F.element, types.boolean)) if has_sign else F.element
    return result(F, *operands, types.int64, types.int64), codegen


@intrinsic
def select(context: Any, F: Any, condition: Any, a: Any, b: Any) -> Any:
    _check(F, a, b)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        pairs = zip(flatten(builder, arguments[2]), flatten(builder, arguments[3]), strict=True)
        return pack(builder, F.description, [builder.select(arguments[1], *pair) for pair in pairs])

    return F.element(F, types.boolean, F.element, F.element), codegen


@intrinsic
def load(context: Any, F: Any, array: Any, i: Any) -> Any:
    _check(F)
    _check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, i = _vectors(context, builder, signature, arguments), arguments[2]
        return _load(
            builder, F, data, builder.mul(i, ir.Constant(INDEX, _vectors_of(F))), ir.Constant(INDEX, 1)
        )

    return F.element(F, array, types.int64), codegen


@intrinsic
def load_plane(context: Any, F: Any, array: Any, i: Any, n: Any) -> Any:
    _check(F)
    _check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _vectors(context, builder, signature, arguments)
        return _load(builder, F, data, arguments[2], arguments[3])

    return F.element(F, array, types.int64, types.int64), codegen


@intrinsic
def store(context: Any, F: Any, array: Any, i: Any, value: Any) -> Any:
    _check(F, value)
    _check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, i = _vectors(context, builder, signature, arguments), arguments[2]
        first = builder.mul(i, ir.Constant(INDEX, _vectors_of(F)))
        _store(builder, data, first, ir.Constant(INDEX, 1), arguments[3])
        return context.get_dummy_value()

    return types.void(F, array, types.int64, F.element), codegen


@intrinsic
def store_plane(context: Any, F: Any, array: Any, i: Any, n: Any, value: Any) -> Any:
    _check(F, value)
    _check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _store(builder, _vectors(context, builder, signature, arguments), *arguments[2:])
        return context.get_dummy_value()

    return types.void(F, array, types.int64, types.int64, F.element), codegen


def _check(F: Any, *elements: Any) -> None:
    if not isinstance(F, FieldType):
        raise TypingError(f"the first argument must be a Field or QuadraticField, not {F}")
    for element in elements:
        if element != F.element:
            raise TypingError(f"an element of {F} is {F.element}, not {element}")


def _check_array(array: Any) -> None:
    if not isinstance(array, types.Array) or array.dtype != types.uint64 or array.layout != "C":
        raise TypingError(f"elements are stored in C-contiguous arrays of uint64, not in {array}")


def _operation(name: str, F: Any, *operands: Any, often: bool = False) -> tuple[Any, Callable[..., Any]]:
    _check(F, *operands)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        words = [flatten(builder, value) for value in arguments[1:]]
        return pack(builder, F.description, code.operate(builder, F.description, name, *words, often=often))

    return F.element(F, *operands), codegen


def _constant(F: Any, value: int) -> tuple[Any, Callable[..., Any]]:
    _check(F)

    def codegen(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return pack(builder, F.description, code.constant(value, F.words))

    return F.element(F), codegen


def _vectors(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of an array, the second argument, for whole vectors."""
    data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
    return builder.bitcast(data, VECTOR.as_pointer())


def _vectors_of(F: Any) -> int:
    return int(F.words // VECTOR.count)


def _load(builder: Any, F: Any, data: Any, first: Any, step: Any) -> Any:
    """The element whose vectors are numbers first, first + step, … of data."""
    words = []
    for _ in range(_vectors_of(F)):
        vector = builder.load(builder.gep(data, [first]), align=VECTOR_BYTES)
        words += [builder.extract_element(vector, ir.Constant(code.I32, j)) for j in range(VECTOR.count)]
        first = builder.add(first, step)
    return pack(builder, F.description, words)


def _store(builder: Any, data: Any, first: Any, step: Any, value: Any) -> None:
    words = flatten(builder, value)
    for k in range(0, len(words), VECTOR.count):
        vector = ir.Constant(VECTOR, ir.Undefined)
        for j in range(VECTOR.count):
            vector = builder.insert_element(vector, words[k + j], ir.Constant(code.I32, j))
        builder.store(vector, builder.gep(data, [first]), align=VECTOR_BYTES)
        first = builder.add(first, step)
