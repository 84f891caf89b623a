"""Field arithmetic on 64-bit limbs as LLVM functions: the code behind `kernels.cpu.field`.

An element is a list of 64-bit words, an operation one LLVM function for each field that takes and returns
words in registers. The modulus is a constant of that function, and the linker keeps one copy of it.
Products and inverses are calls, everything short is inlined: a product is some 300 instructions, and a
curve addition with ten of them inlined would fall out of the instruction cache.

Elements are in Montgomery form and fully reduced, below the modulus, before and after every operation.
"""

import platform
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from kernels.cpu import adx, adx_square, portable
from kernels.cpu.inversion import inverse
from kernels.cpu.words import I64, Builder, Words, constant, to_integer, to_words
from kernels.fields import Field, QuadraticField

# What `field` and `formulas` build on.
__all__ = ["I64", "Builder", "Words", "below_modulus", "call", "constant", "equal", "words_of"]

USE_ADX = adx.available()  # else `portable`

# Passes and returns eleven words in registers; the usual convention six and three, and copying an element
# through memory costs as much as half a product.
CALLING_CONVENTION = "x86_regcallcc" if platform.machine() in ("x86_64", "AMD64") else ""


def words_of(field: Field | QuadraticField) -> int:
    return field.limbs if isinstance(field, Field) else 2 * field.base.limbs


def call(builder: Builder, field: Field | QuadraticField, operation: str, *operands: Words) -> Words:
    """Emits operation(*operands); every operand and the result are elements of `field`."""
    function = _define(builder.module, field, operation, len(operands))
    result = builder.call(function, [word for each in operands for word in each], cconv=CALLING_CONVENTION)
    return [builder.extract_value(result, i) for i in range(words_of(field))]


def equal(builder: Builder, a: Words, b: Words) -> Any:
    """Emits a == b as an i1."""
    return builder.icmp_unsigned("==", to_integer(builder, a), to_integer(builder, b))


def below_modulus(builder: Builder, field: Field | QuadraticField, a: Words) -> Any:
    """Emits whether every coordinate is below the modulus, as an i1."""
    if isinstance(field, QuadraticField):
        low, high = (below_modulus(builder, field.base, half) for half in _halves(a))
        return builder.and_(low, high)
    value = to_integer(builder, a)
    return builder.icmp_unsigned("<", value, ir.Constant(value.type, field.modulus))


def _define(module: Any, field: Field | QuadraticField, operation: str, arity: int) -> Any:
    words = words_of(field)
    modulus = field.modulus if isinstance(field, Field) else field.base.modulus
    name = f"cuzk.{'adx' if USE_ADX else 'portable'}.{field.name}.{modulus:x}.{operation}"
    if name in module.globals:
        return module.globals[name]
    signature = ir.FunctionType(ir.ArrayType(I64, words), [I64] * (arity * words))
    function = ir.Function(module, signature, name)
    function.linkage = "linkonce_odr"
    function.calling_convention = CALLING_CONVENTION
    function.attributes.add("nounwind")
    function.attributes.add("noinline" if operation in CALLED else "alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    operands = [list(function.args[i * words : (i + 1) * words]) for i in range(arity)]
    bodies = PRIME_BODIES if isinstance(field, Field) else QUADRATIC_BODIES
    result = ir.Constant(signature.return_type, ir.Undefined)
    for i, word in enumerate(bodies[operation](builder, field, *operands)):
        result = builder.insert_value(result, word, i)
    builder.ret(result)
    return function


def _is_negative(builder: Builder, value: Any) -> Any:
    """The top bit tells, because the moduli leave it free: no comparison with the modulus is needed."""
    return builder.icmp_signed("<", value, ir.Constant(value.type, 0))


def _subtract_modulus_once(builder: Builder, field: Field, value: Any) -> Any:
    less = builder.sub(value, ir.Constant(value.type, field.modulus))
    return builder.select(_is_negative(builder, less), value, less)


def _add_modulus_if_negative(builder: Builder, field: Field, value: Any) -> Any:
    more = builder.add(value, ir.Constant(value.type, field.modulus))
    return builder.select(_is_negative(builder, value), more, value)


# --- the prime field ----------------------------------------------------------------------------------------


def _add(builder: Builder, field: Field, a: Words, b: Words) -> Words:
    """Word by word: LLVM would regroup a sum of wide integers, and carry each of the words through alone."""
    total, carry = [], ir.Constant(I64, 0)
    for x, y in zip(a, b, strict=True):
        partial = builder.uadd_with_overflow(x, y)
        full = builder.uadd_with_overflow(builder.extract_value(partial, 0), carry)
        overflow = builder.or_(builder.extract_value(partial, 1), builder.extract_value(full, 1))
        total.append(builder.extract_value(full, 0))
        carry = builder.zext(overflow, I64)
    return to_words(builder, _subtract_modulus_once(builder, field, to_integer(builder, total)))


def _sub(builder: Builder, field: Field, a: Words, b: Words) -> Words:
    difference = builder.sub(to_integer(builder, a), to_integer(builder, b))
    return to_words(builder, _add_modulus_if_negative(builder, field, difference))


def _double(builder: Builder, field: Field | QuadraticField, a: Words) -> Words:
    return call(builder, field, "add", a, a)


def _neg(builder: Builder, field: Field | QuadraticField, a: Words) -> Words:
    return call(builder, field, "sub", constant(0, words_of(field)), a)


def _mul(builder: Builder, field: Field, a: Words, b: Words) -> Words:
    return _sum_of_products(builder, field, [(a, b)])


def _sum_of_products(builder: Builder, field: Field, pairs: Sequence[tuple[Words, Words]]) -> Words:
    """Σ a·b / R with one reduction for all; at most two pairs, and (k + 1)·p < R for k of them."""
    product = adx.product if USE_ADX else portable.product
    total = to_integer(builder, product(builder, field, pairs))
    return to_words(builder, _subtract_modulus_once(builder, field, total))


def _square(builder: Builder, field: Field, a: Words) -> Words:
    square = adx_square.square if USE_ADX else portable.square
    total = to_integer(builder, square(builder, field, a))
    return to_words(builder, _subtract_modulus_once(builder, field, total))


def _to_montgomery(builder: Builder, field: Field, a: Words) -> Words:
    return call(builder, field, "mul", a, constant(field.montgomery_r2, field.limbs))


def _from_montgomery(builder: Builder, field: Field, a: Words) -> Words:
    return call(builder, field, "mul", a, constant(1, field.limbs))


PRIME_BODIES: dict[str, Callable[..., Words]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "double": _double,
    "mul": _mul,
    "square": _square,
    "inverse": inverse,
    "to_montgomery": _to_montgomery,
    "from_montgomery": _from_montgomery,
}
CALLED = {"mul", "square", "inverse"}


# --- its quadratic extension by u² = −1 ---------------------------------------------------------------------


def _halves(a: Words) -> tuple[Words, Words]:
    return a[: len(a) // 2], a[len(a) // 2 :]


def _each_half(operation: str) -> Callable[..., Words]:
    def body(builder: Builder, field: QuadraticField, *operands: Words) -> Words:
        low = call(builder, field.base, operation, *(_halves(each)[0] for each in operands))
        return low + call(builder, field.base, operation, *(_halves(each)[1] for each in operands))

    return body


def _quadratic_mul(builder: Builder, field: QuadraticField, a: Words, b: Words) -> Words:
    """(a0·b0 − a1·b1) + (a0·b1 + a1·b0)·u: four products but two reductions, so no more work than Karatsuba's
    three products, and fewer additions (Aranha et al., "A survey of pairing implementations", 2022).
    """
    (a0, a1), (b0, b1) = _halves(a), _halves(b)
    minus_a1 = call(builder, field.base, "neg", a1)
    real = _sum_of_products(builder, field.base, [(a0, b0), (minus_a1, b1)])
    return real + _sum_of_products(builder, field.base, [(a0, b1), (a1, b0)])


def _quadratic_square(builder: Builder, field: QuadraticField, a: Words) -> Words:
    """(a0 + a1)(a0 − a1) + 2·a0·a1·u: two products, which take less than three squares."""

    def do(operation: str, *operands: Words) -> Words:
        return call(builder, field.base, operation, *operands)

    a0, a1 = _halves(a)
    return do("mul", do("add", a0, a1), do("sub", a0, a1)) + do("double", do("mul", a0, a1))


def _quadratic_inverse(builder: Builder, field: QuadraticField, a: Words) -> Words:
    """(a0 − a1·u) / (a0² + a1²); 0 gives 0."""

    def do(operation: str, *operands: Words) -> Words:
        return call(builder, field.base, operation, *operands)

    a0, a1 = _halves(a)
    norm_inverse = do("inverse", do("add", do("square", a0), do("square", a1)))
    return do("mul", a0, norm_inverse) + do("mul", do("neg", a1), norm_inverse)


QUADRATIC_BODIES: dict[str, Callable[..., Words]] = {
    **{
        name: _each_half(name) for name in ("add", "sub", "neg", "double", "to_montgomery", "from_montgomery")
    },
    "mul": _quadratic_mul,
    "square": _quadratic_square,
    "inverse": _quadratic_inverse,
}
