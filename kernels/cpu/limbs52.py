"""Field arithmetic on eight elements side by side in 52-bit limbs: the code behind `kernels.cpu.lanes`.

An element is n vectors of 64-bit lanes: lane l of vector i is limb i of element l. Montgomery form has
R = 2^(52·n). An element is *normal* when each limb is in [0, 2^52); its value is then anything below R, which
is at least 32 times the modulus p, so sums need no reduction. *Raw* limbs are signed 64-bit numbers of any
size whose weighted sum is the value: sums and differences of raw elements need no carries. Products demand
normal operands.

With IFMA a product is 4·n² multiply-adds (Gueron and Krasnov, "Accelerating big integer arithmetic using
Intel IFMA extensions", 2016). For n = 8 a raw limb of a product is below 2^57, so 32 of them can be added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from kernels.cpu.ifma import LANES, LIMB_BITS, LIMB_MASK, VECTOR, add_high, add_low, splat
from kernels.cpu.limbs64 import CALLING_CONVENTION
from kernels.cpu.words import I64, Builder
from kernels.fields import Field, QuadraticField

INT32 = ir.IntType(32)
Vectors = list[Any]  # llvmlite values of type VECTOR, the least significant limb first
SPARE_BITS = 5  # R ≥ 2^5·p
LEAST_TOP_BITS = 16  # of the modulus's highest limb: what the precision of `_reduce` rests on


@dataclass(frozen=True)
class LaneField:
    """A field whose elements are worked on eight at a time; a token for kernels like the field itself.

    emulated: with plain LLVM code in place of the IFMA instructions.
    Raises ValueError for a field that `supports` refuses.
    """

    field: Field | QuadraticField
    emulated: bool

    def __post_init__(self) -> None:
        if not supports(self.field):
            raise ValueError(
                f"{self.field.name} has no lanes: its modulus fills too little of its highest limb"
            )

    @property
    def prime(self) -> Field:
        return self.field if isinstance(self.field, Field) else self.field.base

    @property
    def base(self) -> "LaneField":
        """Of a quadratic field: its prime field."""
        return LaneField(self.prime, self.emulated)

    @property
    def limbs(self) -> int:
        """52-bit limbs of an element of the prime field."""
        return _limbs(self.prime)

    @property
    def vectors(self) -> int:
        """Vectors of an element: `limbs`, or twice as many for a pair."""
        return self.limbs if isinstance(self.field, Field) else 2 * self.limbs

    @property
    def words(self) -> int:
        """64-bit words of one element in an array of rows."""
        return self.prime.limbs * self.vectors // self.limbs

    @property
    def name(self) -> str:
        return f"{'emulated' if self.emulated else 'ifma'}.{self.field.name}"

    @property
    def shift(self) -> int:
        """2^shift = R / 2^(64·L): between the two Montgomery forms."""
        return LIMB_BITS * self.limbs - 64 * self.prime.limbs

    @property
    def montgomery_one(self) -> int:
        """R mod p."""
        return (1 << LIMB_BITS * self.limbs) % self.prime.modulus


def supports(field: Field | QuadraticField) -> bool:
    prime = field if isinstance(field, Field) else field.base
    return prime.bits >= LIMB_BITS * (_limbs(prime) - 1) + LEAST_TOP_BITS


def _limbs(field: Field) -> int:
    return max(-(-(field.bits + SPARE_BITS) // LIMB_BITS), -(-64 * field.limbs // LIMB_BITS))


def constant(value: int, limbs: int) -> Vectors:
    """A number that is known now, in every lane; normal."""
    return [splat(value >> LIMB_BITS * i & LIMB_MASK) for i in range(limbs)]


def broadcast(builder: Builder, values: Sequence[Any]) -> Vectors:
    """Each i64 in every lane of a vector."""
    undefined, everywhere = (
        ir.Constant(VECTOR, ir.Undefined),
        ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES),
    )
    return [
        builder.shuffle_vector(builder.insert_element(undefined, value, INT32(0)), undefined, everywhere)
        for value in values
    ]


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
    return QUADRATIC_PRODUCTS[operation] if operation in PRODUCTS else _each_half(PRIME_BODIES[operation])


# --- sums ---------------------------------------------------------------------------------------------------


def carry(builder: Builder, a: Vectors) -> Vectors:
    """Raw to normal; the value must be in [0, R)."""
    result = list(a)
    for i in range(len(a) - 1):
        over = builder.ashr(result[i], splat(LIMB_BITS))
        result[i] = builder.and_(result[i], splat(LIMB_MASK))
        result[i + 1] = builder.add(result[i + 1], over)
    return result


def _carry(builder: Builder, F: LaneField, a: Vectors) -> Vectors:  # noqa: ARG001 — as every body
    return carry(builder, a)


def _add_raw(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:  # noqa: ARG001 — as every body
    return [builder.add(x, y) for x, y in zip(a, b, strict=True)]


def _add(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    return carry(builder, _add_raw(builder, F, a, b))


def _sub_raw(builder: Builder, F: LaneField, a: Vectors, b: Vectors, multiple: int) -> Vectors:
    """a + multiple·p − b; the sum with the constant comes first, as it needs no b, which is often late."""
    above = constant(multiple * F.prime.modulus, F.limbs)
    return [builder.sub(builder.add(x, c), y) for x, c, y in zip(a, above, b, strict=True)]


def _sub(builder: Builder, F: LaneField, a: Vectors, b: Vectors, multiple: int) -> Vectors:
    return carry(builder, _sub_raw(builder, F, a, b, multiple))


def _neg(builder: Builder, F: LaneField, a: Vectors, multiple: int) -> Vectors:
    return _sub(builder, F, constant(0, F.limbs), a, multiple)


def _double(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    return _add(builder, F, a, a)


def select(builder: Builder, mask: Any, a: Vectors, b: Vectors) -> Vectors:
    """a in the lanes whose bit of the i8 mask is set, b in the others."""
    lanes = builder.bitcast(mask, ir.VectorType(ir.IntType(1), LANES))
    return [builder.select(lanes, x, y) for x, y in zip(a, b, strict=True)]


def as_mask(builder: Builder, lanes: Any) -> Any:
    """<8 x i1> -> i8."""
    return builder.bitcast(lanes, ir.IntType(8))


# --- reductions ---------------------------------------------------------------------------------------------


def _reduce(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """A normal a < R to normal a − q·p in [0, p + p/2^14).

    Let B be the highest limb's weight, t = ⌊a/B⌋ that limb, r as large as possible with 2^r·B ≤ p, and
    m = ⌊2^(52 + r)·B/p⌋, which is below 2^52. Then t·m/2^(52 + r) is at most a/p, and short of it by less
    than B/p + t/2^(52 + r) < 2^−r + 2^−r; q is that rounded down, and r ≥ 15. −q·p is added as q·(R − p),
    whose multiple of R is cut off.
    """
    p, n = F.prime.modulus, F.limbs
    r = F.prime.bits - 1 - LIMB_BITS * (n - 1)
    reciprocal = (1 << LIMB_BITS * n + r) // p
    zero = splat(0)
    quotient = builder.lshr(add_high(builder, F.emulated, zero, a[-1], splat(reciprocal)), splat(r))
    complement = constant((1 << LIMB_BITS * n) - p, n)
    total = [add_low(builder, F.emulated, x, quotient, c) for x, c in zip(a, complement, strict=True)]
    for i in range(n - 1):
        total[i + 1] = add_high(builder, F.emulated, total[i + 1], quotient, complement[i])
    total = carry(builder, total)
    return [*total[:-1], builder.and_(total[-1], splat(LIMB_MASK))]


def _subtract_once(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """A normal a < 2·p to a mod p."""
    less = carry(
        builder, [builder.sub(x, c) for x, c in zip(a, constant(F.prime.modulus, F.limbs), strict=True)]
    )
    negative = builder.icmp_signed("<", less[-1], splat(0))
    return [builder.select(negative, x, y) for x, y in zip(a, less, strict=True)]


def _canonical(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    return _subtract_once(builder, F, _reduce(builder, F, a))


def is_zero(builder: Builder, F: LaneField, a: Vectors) -> Any:
    """<8 x i1>: whether normal a is a multiple of p; after `_reduce` only 0 and p are left."""
    if isinstance(F.field, QuadraticField):
        low, high = (is_zero(builder, F.base, half) for half in halves(a))
        return builder.and_(low, high)
    reduced = call(builder, F, "reduce", a)
    return builder.or_(
        equal(builder, reduced, constant(0, F.limbs)),
        equal(builder, reduced, constant(F.prime.modulus, F.limbs)),
    )


def equal(builder: Builder, a: Vectors, b: Vectors) -> Any:
    """<8 x i1>: whether all limbs are the same."""
    difference = splat(0)
    for x, y in zip(a, b, strict=True):
        difference = builder.or_(difference, builder.xor(x, y))
    return builder.icmp_unsigned("==", difference, splat(0))


# --- products -----------------------------------------------------------------------------------------------


def _add_row(
    builder: Builder, F: LaneField, total: Vectors, at: int, row: Sequence[Any], factor: Any
) -> None:
    """total += row·factor·2^(52·at)"""
    for j, x in enumerate(row):
        total[at + j] = add_low(builder, F.emulated, total[at + j], x, factor)
    for j, x in enumerate(row):
        total[at + j + 1] = add_high(builder, F.emulated, total[at + j + 1], x, factor)


def _cancel_limb(builder: Builder, F: LaneField, total: Vectors, i: int) -> None:
    """Adds the multiple of p·2^(52·i) that clears limb i, whose value so far goes up as a carry.

    The cleared limb is a multiple of 2^52, and its carry that of the limb rounded up: no need to wait for
    the multiple. The carry is signed, as limbs may be.
    """
    *p, negated_inverse = _modulus_in_memory(builder, F)
    factor = add_low(builder, F.emulated, splat(0), total[i], negated_inverse)
    over = builder.ashr(builder.add(total[i], splat(LIMB_MASK)), splat(LIMB_BITS))
    over = add_high(builder, F.emulated, over, p[0], factor)
    for j in range(1, F.limbs):
        total[i + j] = add_low(builder, F.emulated, total[i + j], p[j], factor)
    for j in range(1, F.limbs):
        total[i + j + 1] = add_high(builder, F.emulated, total[i + j + 1], p[j], factor)
    total[i + 1] = builder.add(total[i + 1], over)


def _modulus_in_memory(builder: Builder, F: LaneField) -> Vectors:
    """The modulus and −1/p mod 2^52, from memory: a multiply-add takes such an operand as it is, whereas LLVM
    makes constants anew in every product. It must not know that nobody writes there.
    """
    module, p = builder.module, F.prime.modulus
    name = f"cuzk.lanes.{F.limbs}.{p:x}"
    if name not in module.globals:
        limbs = [p >> LIMB_BITS * i & LIMB_MASK for i in range(F.limbs)]
        limbs.append(-pow(p, -1, 1 << LIMB_BITS) % (1 << LIMB_BITS))
        variable = ir.GlobalVariable(module, ir.ArrayType(I64, len(limbs)), name)
        variable.linkage = "linkonce_odr"
        variable.initializer = ir.Constant(variable.value_type, limbs)
    pointer = module.globals[name].bitcast(I64.as_pointer())
    return broadcast(builder, [builder.load(pointer.gep([I64(i)])) for i in range(F.limbs + 1)])


def _mul_raw(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    """a·b/R + less than p. Rows and reductions take turns, a row ahead of what waits for the one before."""
    total = [splat(0)] * (2 * F.limbs)
    _add_row(builder, F, total, 0, a, b[0])
    for i in range(F.limbs):
        if i + 1 < F.limbs:
            _add_row(builder, F, total, i + 1, a, b[i + 1])
        _cancel_limb(builder, F, total, i)
    return total[F.limbs :]


def _mul(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    return carry(builder, _mul_raw(builder, F, a, b))


def _square(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    return _montgomery(builder, F, _wide_square(builder, F, a))


def _montgomery(builder: Builder, F: LaneField, wide: Vectors) -> Vectors:
    """A number of 2·n raw limbs, in [0, p·R), to it /R, normal and below 2·p."""
    total = list(wide)
    for i in range(F.limbs):
        _cancel_limb(builder, F, total, i)
    return carry(builder, total[F.limbs :])


def _wide_product(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    """a·b in 2·n raw limbs."""
    total = [splat(0)] * (2 * F.limbs)
    for i in range(F.limbs):
        _add_row(builder, F, total, i, a, b[i])
    return total


def _wide_square(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """a² in 2·n raw limbs: products of different limbs once, doubled, then the limbs' squares."""
    total = [splat(0)] * (2 * F.limbs)
    for i in range(F.limbs - 1):
        _add_row(builder, F, total, 2 * i + 1, a[i + 1 :], a[i])
    total = [builder.add(x, x) for x in total]
    for i in range(F.limbs):
        total[2 * i] = add_low(builder, F.emulated, total[2 * i], a[i], a[i])
        total[2 * i + 1] = add_high(builder, F.emulated, total[2 * i + 1], a[i], a[i])
    return total


PRIME_BODIES: dict[str, Callable[..., Vectors]] = {
    "add": _add,
    "add_raw": _add_raw,
    "sub": _sub,
    "sub_raw": _sub_raw,
    "neg": _neg,
    "double": _double,
    "carry": _carry,
    "reduce": _reduce,
    "canonical": _canonical,
    "subtract_once": _subtract_once,
    "mul": _mul,
    "mul_raw": _mul_raw,
    "square": _square,
}
PRODUCTS = {"mul", "mul_raw", "square"}
WITH_MULTIPLE = {"sub", "sub_raw", "neg"}


# --- the quadratic extension by u² = −1 ---------------------------------------------------------------------


def halves(a: Vectors) -> tuple[Vectors, Vectors]:
    return a[: len(a) // 2], a[len(a) // 2 :]


def _each_half(body: Callable[..., Vectors]) -> Callable[..., Vectors]:
    def both(builder: Builder, F: LaneField, *arguments: Any) -> Vectors:
        operands = [halves(each) for each in arguments if isinstance(each, list)]
        extra = [each for each in arguments if not isinstance(each, list)]
        return [
            vector
            for half in (0, 1)
            for vector in body(builder, F.base, *(operand[half] for operand in operands), *extra)
        ]

    return both


def _quadratic_mul(builder: Builder, F: LaneField, a: Vectors, b: Vectors) -> Vectors:
    """Karatsuba's three products, none of them reduced, and one reduction for each coefficient."""
    base, (a0, a1), (b0, b1) = F.base, halves(a), halves(b)
    low, high = _wide_product(builder, base, a0, b0), _wide_product(builder, base, a1, b1)
    mixed = _wide_product(builder, base, _add(builder, base, a0, a1), _add(builder, base, b0, b1))
    return _from_karatsuba(builder, base, low, high, mixed)


def _quadratic_square(builder: Builder, F: LaneField, a: Vectors) -> Vectors:
    """As `_quadratic_mul`; three squares are cheaper than two products."""
    base, (a0, a1) = F.base, halves(a)
    squares = (_wide_square(builder, base, x) for x in (a0, a1, _add(builder, base, a0, a1)))
    return _from_karatsuba(builder, base, *squares)


def _from_karatsuba(
    builder: Builder, base: LaneField, low: Vectors, high: Vectors, mixed: Vectors
) -> Vectors:
    """(low − high + p·R)/R and (mixed − low − high)/R."""
    real = [builder.sub(x, y) for x, y in zip(low, high, strict=True)]
    for i, c in enumerate(constant(base.prime.modulus, base.limbs)):
        real[base.limbs + i] = builder.add(real[base.limbs + i], c)
    imaginary = [builder.sub(builder.sub(z, x), y) for x, y, z in zip(low, high, mixed, strict=True)]
    return _montgomery(builder, base, real) + _montgomery(builder, base, imaginary)


QUADRATIC_PRODUCTS: dict[str, Callable[..., Vectors]] = {"mul": _quadratic_mul, "square": _quadratic_square}
