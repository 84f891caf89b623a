"""Field arithmetic on 32-bit words in LLVM code: the code behind `kernels.cuda.compiled_field`.

An element is a list of 32-bit words in registers. Products of a prime field are LLVM functions that are
called, since a curve addition with ten of them inlined would fall out of the instruction cache; everything
short is inlined.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from kernels.cuda import ptx
from kernels.cuda.ptx_square import square
from kernels.fields import Field, QuadraticField

I32 = ir.IntType(32)
Words = list[Any]  # llvmlite values of type i32, least significant first
CALLED = ("mul", "square")
PRIME: dict[str, Callable[..., list[str]]] = {
    "add": ptx.add,
    "sub": ptx.sub,
    "mul": ptx.mul,
    "square": square,
}


def constant(value: int, words: int) -> Words:
    return [ir.Constant(I32, value >> 32 * i & ptx.WORD_MASK) for i in range(words)]


def operate(builder: Any, field: Field | QuadraticField, name: str, *operands: Words) -> Words:
    """Emits an operation ("add", "sub", "mul", "square") on elements of `field`."""
    if isinstance(field, QuadraticField):
        return QUADRATIC[name](builder, field.base, *operands)
    emit = _called if name in CALLED else _inlined
    return emit(builder, field, name, *operands)


def equal(builder: Any, a: Words, b: Words) -> Any:
    """Emits a == b as an i1."""
    difference = ir.Constant(I32, 0)
    for x, y in zip(a, b, strict=True):
        difference = builder.or_(difference, builder.xor(x, y))
    return builder.icmp_unsigned("==", difference, ir.Constant(I32, 0))


def _inlined(builder: Any, field: Field, name: str, *operands: Words) -> Words:
    """The PTX text of an operation as one piece of inline assembly."""
    n = ptx.words_of(field)
    names = [f"${i}" for i in range(n * (len(operands) + 1))]
    groups = [names[i : i + n] for i in range(0, len(names), n)]
    lines = PRIME[name](field, *groups)
    text = f"{{ {ptx.registers(field)} {' '.join(lines)} }}"
    kind = ir.FunctionType(ir.LiteralStructType([I32] * n), [I32] * (n * len(operands)))
    constraints = ",".join(["=&r"] * n + ["r"] * (n * len(operands)))
    words = [word for each in operands for word in each]
    result = builder.asm(kind, text, constraints, words, side_effect=False)
    return [builder.extract_value(result, i) for i in range(n)]


def _called(builder: Any, field: Field, name: str, *operands: Words) -> Words:
    """The same as a call of a function that the module holds once."""
    n = ptx.words_of(field)
    symbol = f"cuzk_{name}_{field.modulus:x}"
    function = builder.module.globals.get(symbol) or _define(
        builder.module, symbol, field, name, len(operands)
    )
    result = builder.call(function, [word for each in operands for word in each])
    return [builder.extract_value(result, i) for i in range(n)]


def _define(module: Any, symbol: str, field: Field, name: str, arity: int) -> Any:
    n = ptx.words_of(field)
    kind = ir.FunctionType(ir.LiteralStructType([I32] * n), [I32] * (n * arity))
    function = ir.Function(module, kind, symbol)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    operands = [list(function.args[i * n : (i + 1) * n]) for i in range(arity)]
    result = ir.Constant(kind.return_type, ir.Undefined)
    for i, word in enumerate(_inlined(builder, field, name, *operands)):
        result = builder.insert_value(result, word, i)
    builder.ret(result)
    return function


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
    """Karatsuba: (a0·b0 − a1·b1) + ((a0 + a1)(b0 + b1) − a0·b0 − a1·b1)·u."""
    (a0, a1), (b0, b1) = _halves(a), _halves(b)

    def do(name: str, *operands: Words) -> Words:
        return operate(builder, base, name, *operands)

    low, high = do("mul", a0, b0), do("mul", a1, b1)
    both = do("mul", do("add", a0, a1), do("add", b0, b1))
    return do("sub", low, high) + do("sub", do("sub", both, low), high)


def _quadratic_square(builder: Any, base: Field, a: Words) -> Words:
    """(a0 + a1)(a0 − a1) + 2·a0·a1·u."""
    a0, a1 = _halves(a)
    low = operate(
        builder, base, "mul", operate(builder, base, "add", a0, a1), operate(builder, base, "sub", a0, a1)
    )
    high = operate(builder, base, "mul", a0, a1)
    return low + operate(builder, base, "add", high, high)


QUADRATIC: dict[str, Callable[..., Words]] = {
    "add": _componentwise("add"),
    "sub": _componentwise("sub"),
    "mul": _quadratic_mul,
    "square": _quadratic_square,
}
