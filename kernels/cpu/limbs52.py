"""Field arithmetic on eight elements side by side in 52-bit limbs: the code behind `kernels.cpu.lanes`.

An element is n vectors of 64-bit lanes: lane l of vector i is limb i of element l. Montgomery form has
R = 2^(52·n). An element is *normal* when each limb is in [0, 2^52); its value is then anything below R, which
is at least 32 times the modulus p, so sums need no reduction. *Raw* limbs are signed 64-bit numbers of any
size whose weighted sum is the value: sums and differences of raw elements need no carries. Products demand
normal operands.

An operation is one LLVM function for each field, made here of the code in `lane_sums`, `lane_reductions`,
`lane_products` and `lane_pairs`.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from kernels.cpu import lane_pairs as pairs
from kernels.cpu import lane_products as products
from kernels.cpu import lane_reductions as reductions
from kernels.cpu import lane_sums as sums
from kernels.cpu.ifma import VECTOR, Vectors
from kernels.cpu.lane_field import LaneField
from kernels.cpu.limbs64 import CALLING_CONVENTION
from kernels.cpu.words import Builder
from kernels.fields import Field

PRIME_BODIES: dict[str, Callable[..., Vectors]] = {
    "add": sums.add,
    "add_raw": sums.add_raw,
    "sub": sums.sub,
    "sub_raw": sums.sub_raw,
    "neg": sums.neg,
    "double": sums.double,
    "carry": lambda builder, _, a: sums.carry(builder, a),
    "reduce": reductions.reduce,
    "canonical": reductions.canonical,
    "subtract_once": reductions.subtract_once,
    "mul": products.mul,
    "mul_raw": products.mul_raw,
    "square": products.square,
}
QUADRATIC_PRODUCTS: dict[str, Callable[..., Vectors]] = {
    "mul": pairs.quadratic_mul,
    "square": pairs.quadratic_square,
}
PRODUCTS = {"mul", "mul_raw", "square"}
WITH_MULTIPLE = {"sub", "sub_raw", "neg"}


def call(builder: Builder, F: LaneField, operation: str, *operands: Vectors, multiple: int = 0) -> Vectors:
    """Emits operation(*operands); every operand and the result are elements of F."""
    function = _define(builder.module, F, operation, len(operands), multiple)
    result = builder.call(
        function, [each for operand in operands for each in operand], cconv=CALLING_CONVENTION
    )
    return [builder.extract_value(result, i) for i in range(F.vectors)]


def _define(module: Any, F: LaneField, operation: str, arity: int, multiple: int) -> Any:
    name = f"cuzk.lanes.{F.name}.{F.prime.modulus:x}.{operation}.{multiple}"
    if name in module.globals:
        return module.globals[name]
    signature = ir.FunctionType(ir.ArrayType(VECTOR, F.vectors), [VECTOR] * (arity * F.vectors))
    function = ir.Function(module, signature, name)
    function.linkage = "linkonce_odr"
    function.calling_convention = CALLING_CONVENTION
    function.attributes.add("nounwind")
    # A product is over a hundred instructions, and its operands and result are passed in vector registers.
    function.attributes.add("noinline" if operation in PRODUCTS else "alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    operands = [list(function.args[i * F.vectors : (i + 1) * F.vectors]) for i in range(arity)]
    extra = (multiple,) if operation in WITH_MULTIPLE else ()
    result = ir.Constant(signature.return_type, ir.Undefined)
    for i, vector in enumerate(_body(F, operation)(builder, F, *operands, *extra)):
        result = builder.insert_value(result, vector, i)
    builder.ret(result)
    return function


def _body(F: LaneField, operation: str) -> Callable[..., Vectors]:
    if isinstance(F.field, Field):
        return PRIME_BODIES[operation]
    return (
        QUADRATIC_PRODUCTS[operation] if operation in PRODUCTS else pairs.each_half(PRIME_BODIES[operation])
    )
