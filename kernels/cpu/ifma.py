"""Eight 52-bit multiply-adds at once: an instruction of AVX-512 IFMA, or plain LLVM code that does the same.

The plain code is slow. It is there so that everything built on the two primitives can be tested on
processors without the instructions.
"""

from typing import Any

from llvmlite import binding, ir

from kernels.cpu.words import I64, Builder

LANES = 8
LIMB_BITS = 52
LIMB_MASK = (1 << LIMB_BITS) - 1
VECTOR = ir.VectorType(I64, LANES)
Vectors = list[Any]  # llvmlite values of type VECTOR, the least significant limb or word first
SIGNATURE = ir.FunctionType(VECTOR, [VECTOR] * 3)
WIDE = ir.VectorType(ir.IntType(128), LANES)


def available() -> bool:
    """Whether this processor has the instructions."""
    features = binding.get_host_cpu_features()
    return bool(features.get("avx512f") and features.get("avx512ifma"))


def splat(value: int) -> Any:
    """The same number, negative or not, in every lane."""
    return ir.Constant(VECTOR, [value & ((1 << 64) - 1)] * LANES)


def add_low(builder: Builder, emulated: bool, total: Any, a: Any, b: Any) -> Any:
    """total + (a·b mod 2^52), of a and b only the low 52 bits; the sum wraps at 2^64."""
    return builder.call(_primitive(builder.module, "l", emulated), [total, a, b])


def add_high(builder: Builder, emulated: bool, total: Any, a: Any, b: Any) -> Any:
    """total + ⌊a·b / 2^52⌋, of a and b only the low 52 bits; the sum wraps at 2^64."""
    return builder.call(_primitive(builder.module, "h", emulated), [total, a, b])


def _primitive(module: Any, half: str, emulated: bool) -> Any:
    name = f"cuzk.emulated.madd52{half}" if emulated else f"llvm.x86.avx512.vpmadd52{half}.uq.512"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, SIGNATURE, name)
    if emulated:
        function.linkage = "linkonce_odr"
        function.attributes.add("noinline")
        _emulate(function, half)
    return function


def _emulate(function: Any, half: str) -> None:
    builder = ir.IRBuilder(function.append_basic_block())
    total, a, b = function.args
    a, b = (builder.zext(builder.and_(x, splat(LIMB_MASK)), WIDE) for x in (a, b))
    product = builder.mul(a, b)
    if half == "l":
        part = builder.and_(builder.trunc(product, VECTOR), splat(LIMB_MASK))
    else:
        part = builder.trunc(builder.lshr(product, ir.Constant(WIDE, [LIMB_BITS] * LANES)), VECTOR)
    builder.ret(builder.add(total, part))
