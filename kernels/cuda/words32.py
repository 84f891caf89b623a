"""Field arithmetic on 32-bit words in LLVM code: the code behind `kernels.cuda.compiled_field`.

An element is a list of 32-bit words in registers. Products of a prime field are LLVM functions that are
called, since a curve addition with ten of them inlined would fall out of the instruction cache, unless they
are few or short enough; everything shorter is inlined.
"""

from collections.abc import Callable
from itertools import count, islice
from typing import Any

from llvmlite import ir

from kernels.cuda import ptx
from kernels.cuda.ptx_inverse import STEPS
from kernels.cuda.ptx_quadratic import quadratic_mul
from kernels.cuda.ptx_square import square
from kernels.fields import Field, QuadraticField

I32 = ir.IntType(32)
Words = list[Any]  # llvmlite values of type i32, least significant first
Program = Callable[..., list[str]]  # lines of PTX for a field and registers, those of the result first
INLINED: dict[str, Program] = {"add": ptx.add, "sub": ptx.sub}
CALLED: dict[str, Program] = {
    "mul": ptx.mul,
    "square": square,
    "product_difference": ptx.product_difference,
    "quadratic_mul": quadratic_mul,
}
INLINED_OFTEN = {4: ("mul", "square", "product_difference"), 6: ("square", "product_difference")}
"""By limbs: with its products inlined too, an addition of 6 limbs no longer fits the instruction cache."""


def constant(value: int, words: int) -> Words:
    return [ir.Constant(I32, value >> 32 * i & ptx.WORD_MASK) for i in range(words)]


def operate(
    builder: Any, field: Field | QuadraticField, name: str, *operands: Words, often: bool = False
) -> Words:
    """Emits an operation ("add", "sub", "mul", "square", "product_difference") on elements of `field`.

    often: inlined where that pays in a loop that consists of a few of them.
    """
    if isinstance(field, QuadraticField):
        return QUADRATIC[name](builder, field.base, *operands)
    n = ptx.words_of(field)
    if name in INLINED:
        return assemble(builder, field, INLINED[name], n, *operands)
    if often and name in INLINED_OFTEN[field.limbs]:
        return assemble(builder, field, CALLED[name], n, *operands)
    return _call(builder, field, name, n, *operands)


def equal(builder: Any, a: Words, b: Words) -> Any:
    """Emits a == b as an i1."""
    difference = ir.Constant(I32, 0)
    for x, y in zip(a, b, strict=True):
        difference = builder.or_(difference, builder.xor(x, y))
    return builder.icmp_unsigned("==", difference, ir.Constant(I32, 0))


def assemble(builder: Any, field: Field, program: Program, outputs: int, *operands: Words) -> Words:
    """Emits a program that sets `outputs` words as one piece of inline assembly."""
    names = (f"${i}" for i in count())
    groups = [[next(names) for _ in range(size)] for size in (outputs, *map(len, operands))]
    text = f"{{ {ptx.registers(field)} {' '.join(program(field, *groups))} }}"
    words = [word for each in operands for word in each]
    kind = ir.FunctionType(ir.LiteralStructType([I32] * outputs), [I32] * len(words))
    constraints = ",".join(["=&r"] * outputs + ["r"] * len(words))
    result = builder.asm(kind, text, constraints, words, side_effect=False)
    return [builder.extract_value(result, i) for i in range(outputs)]


def _call(builder: Any, field: Field, name: str, outputs: int, *operands: Words) -> Words:
    """Emits a call of a function that the module holds once for a field."""
    symbol = f"cuzk_{name}_{field.modulus:x}"
    function = builder.module.globals.get(symbol)
    if function is None:
        function = _define(builder.module, symbol, field, name, outputs, [len(words) for words in operands])
    result = builder.call(function, [word for each in operands for word in each])
    return [builder.extract_value(result, i) for i in range(outputs)]


def _define(module: Any, symbol: str, field: Field, name: str, outputs: int, sizes: list[int]) -> Any:
    kind = ir.FunctionType(ir.LiteralStructType([I32] * outputs), [I32] * sum(sizes))
    function = ir.Function(module, kind, symbol)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    arguments = iter(function.args)
    operands = [list(islice(arguments, size)) for size in sizes]
    result = ir.Constant(kind.return_type, ir.Undefined)
    for i, word in enumerate(assemble(builder, field, CALLED[name], outputs, *operands)):
        result = builder.insert_value(result, word, i)
    builder.ret(result)
    return function


def approximate(builder: Any, u: Words, v: Words) -> list[Any]:
    """Emits, of both numbers in 64 bits each, their 33 bits from the longer's highest on and their 31 lowest.

    Numbers of 64 bits or fewer are taken as they are.
    """
    zero, i64 = ir.Constant(I32, 0), ir.IntType(64)
    highs, belows = [u[1], v[1]], [u[0], v[0]]
    is_long = ir.Constant(ir.IntType(1), 0)
    for i in range(2, len(u)):
        is_used = builder.icmp_unsigned("!=", builder.or_(u[i], v[i]), zero)
        highs = [builder.select(is_used, words[i], high) for words, high in zip((u, v), highs, strict=True)]
        belows = [
            builder.select(is_used, words[i - 1], below) for words, below in zip((u, v), belows, strict=True)
        ]
        is_long = builder.or_(is_long, is_used)
    zeros = builder.ctlz(builder.or_(*highs), ir.Constant(ir.IntType(1), 0))
    shift = builder.zext(builder.select(is_long, zeros, zero), i64)
    results = []
    for words, high, below in zip((u, v), highs, belows, strict=True):
        window = builder.or_(
            builder.shl(builder.zext(high, i64), ir.Constant(i64, 32)), builder.zext(below, i64)
        )
        upper = builder.and_(builder.shl(window, shift), ir.Constant(i64, -(1 << STEPS)))
        lower = builder.and_(builder.zext(words[0], i64), ir.Constant(i64, (1 << STEPS) - 1))
        results.append(builder.or_(upper, lower))
    return results


def size_and_sign(builder: Any, factor: Any) -> Words:
    """Emits, of an i64 from −2^31 to 2^31, its size and a word of ones where it is negative."""
    i64 = factor.type
    is_negative = builder.icmp_signed("<", factor, ir.Constant(i64, 0))
    size = builder.select(is_negative, builder.sub(ir.Constant(i64, 0), factor), factor)
    return [builder.trunc(size, I32), builder.sext(is_negative, I32)]


# --- the quadratic field, u² = −1 ---------------------------------------------------------------------------


def _halves(a: Words) -> tuple[Words, Words]:
    middle = len(a) // 2
    return a[:middle], a[middle:]


def _componentwise(name: str) -> Callable[..., Words]:
    def emit(builder: Any, base: Field, a: Words, b: Words) -> Words:
        (a0, a1), (b0, b1) = _halves(a), _halves(b)
        return operate(builder, base, name, a0, b0) + operate(builder, base, name, a1, b1)

    return emit


def _quadratic_mul(builder: Any, base: Field, a: Words, b: Words) -> Words:
    return _call(builder, base, "quadratic_mul", len(a), a, b)


def _quadratic_square(builder: Any, base: Field, a: Words) -> Words:
    """(a0 + a1)(a0 − a1) + 2·a0·a1·u."""
    a0, a1 = _halves(a)
    low = operate(
        builder, base, "mul", operate(builder, base, "add", a0, a1), operate(builder, base, "sub", a0, a1)
    )
    high = operate(builder, base, "mul", a0, a1)
    return low + operate(builder, base, "add", high, high)


def _quadratic_product_difference(builder: Any, base: Field, a: Words, b: Words, c: Words, d: Words) -> Words:
    first, second = _quadratic_mul(builder, base, a, b), _quadratic_mul(builder, base, c, d)
    return QUADRATIC["sub"](builder, base, first, second)


QUADRATIC: dict[str, Callable[..., Words]] = {
    "add": _componentwise("add"),
    "sub": _componentwise("sub"),
    "mul": _quadratic_mul,
    "square": _quadratic_square,
    "product_difference": _quadratic_product_difference,
}
