"""Inverses modulo a prime in plain LLVM code: a binary GCD whose steps are chosen by single words.

Pornin, "Optimized Binary GCD for Modular Inversion", 2020 (https://eprint.iacr.org/2020/972): the 33 highest
bits and the 31 lowest tell what the next 31 steps are; they are gathered as four factors, by which the whole
numbers are then multiplied at once. Three times as fast as a step on whole numbers after another.
"""

from typing import Any

from llvmlite import ir

from kernels.cpu.portable import multiply_add
from kernels.cpu.words import I64, Builder, Words, constant, to_integer, to_words
from kernels.fields import Field

STEPS = 31  # at a time
LOW_MASK = (1 << STEPS) - 1
BOTH_OFFSETS = LOW_MASK << 32 | LOW_MASK  # makes both factors in a word positive


def inverse(builder: Builder, field: Field, a: Words) -> Words:
    """Emits R²/a modulo p, for a below p; 0 for 0.

    Keeps u = a·b/R² and v = a·c/R² modulo p, while (u, v) goes from (a, p) to (0, 1).
    """
    wide = ir.IntType(64 * field.limbs)
    zero = ir.Constant(wide, 0)
    entry, loop, end = builder.block, builder.append_basic_block(), builder.append_basic_block()
    start = to_integer(builder, a)
    builder.cbranch(builder.icmp_unsigned("==", start, zero), end, loop)

    builder.position_at_end(loop)
    u, v, b, c = (builder.phi(wide) for _ in range(4))
    pairs = [_unpack(builder, factors) for factors in _choose_steps(builder, *_approximate(builder, u, v))]
    numbers = [to_words(builder, each) for each in (u, v, b, c)]
    following = []
    for pair in pairs:
        value = builder.ashr(_combine(builder, pair, numbers[:2]), ir.Constant(_wider(field), STEPS))
        negative = builder.icmp_signed("<", value, ir.Constant(value.type, 0))
        following.append(builder.trunc(_negate_if(builder, negative, value), wide))
        signed = [_negate_if(builder, negative, factor) for factor in pair]
        following.append(_shifted_down(builder, field, _combine(builder, signed, numbers[2:])))
    next_u, next_b, next_v, next_c = following
    firsts = (start, *(ir.Constant(wide, value) for value in (field.modulus, field.montgomery_r2, 0)))
    last = builder.block
    for phi, first, value in zip((u, v, b, c), firsts, (next_u, next_v, next_b, next_c), strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, last)
    builder.cbranch(builder.icmp_unsigned("==", next_u, zero), end, loop)

    builder.position_at_end(end)
    result = builder.phi(wide)
    result.add_incoming(zero, entry)
    result.add_incoming(next_c, last)
    return to_words(builder, result)


def _wider(field: Field) -> Any:
    return ir.IntType(64 * field.limbs + 64)


def _approximate(builder: Builder, u: Any, v: Any) -> list[Any]:
    """Of both numbers in a word each: their 33 bits from the longer's highest on, and their 31 lowest."""
    wide = u.type
    zeros = builder.ctlz(builder.or_(u, v), ir.Constant(ir.IntType(1), 0))
    most = ir.Constant(wide, wide.width - 64)  # of leading zeros that leave more than a word
    zeros = builder.select(builder.icmp_unsigned("<", zeros, most), zeros, most)
    shift = builder.sub(ir.Constant(wide, wide.width - 33), zeros)
    words = []
    for number in (u, v):
        high = builder.shl(builder.trunc(builder.lshr(number, shift), I64), ir.Constant(I64, STEPS))
        words.append(builder.or_(high, builder.and_(builder.trunc(number, I64), ir.Constant(I64, LOW_MASK))))
    return words


def _choose_steps(builder: Builder, x: Any, y: Any) -> tuple[Any, Any]:
    """Takes steps on words x and y: (f, g) with 2^31·x' = f·x + g·y as f + 2^32·g, and those of y'."""
    before, loop, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)
    builder.position_at_end(loop)
    zero, one = ir.Constant(I64, 0), ir.Constant(I64, 1)
    phis = [builder.phi(I64) for _ in range(5)]
    x_now, y_now, of_x, of_y, left = phis
    odd = builder.trunc(x_now, ir.IntType(1))
    swap = builder.and_(odd, builder.icmp_unsigned("<", x_now, y_now))
    next_y, next_of_y = builder.select(swap, x_now, y_now), builder.select(swap, of_x, of_y)
    larger, of_larger = builder.select(swap, y_now, x_now), builder.select(swap, of_y, of_x)
    next_x = builder.lshr(builder.sub(larger, builder.select(odd, next_y, zero)), one)
    next_of_x = builder.sub(of_larger, builder.select(odd, next_of_y, zero))
    doubled = builder.shl(next_of_y, one)
    next_left = builder.sub(left, one)
    firsts = (x, y, one, ir.Constant(I64, 1 << 32), ir.Constant(I64, STEPS))
    for phi, first, value in zip(phis, firsts, (next_x, next_y, next_of_x, doubled, next_left), strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_unsigned("==", next_left, zero), after, loop)
    builder.position_at_end(after)
    return next_of_x, doubled


def _unpack(builder: Builder, factors: Any) -> list[Any]:
    """f and g, from −2^31 + 1 to 2^31, of f + 2^32·g."""
    positive = builder.add(factors, ir.Constant(I64, BOTH_OFFSETS))
    low = builder.and_(positive, ir.Constant(I64, (1 << 32) - 1))
    high = builder.lshr(positive, ir.Constant(I64, 32))
    return [builder.sub(each, ir.Constant(I64, LOW_MASK)) for each in (low, high)]


def _combine(builder: Builder, factors: list[Any], numbers: list[Words]) -> Any:
    """Σ factor·number, signed and a word longer."""
    total = None
    for factor, words in zip(factors, numbers, strict=True):
        negative = builder.icmp_signed("<", factor, ir.Constant(I64, 0))
        product = _times(builder, words, _negate_if(builder, negative, factor))
        signed = _negate_if(builder, negative, to_integer(builder, product))
        total = signed if total is None else builder.add(total, signed)
    return total


def _times(builder: Builder, words: Words, factor: Any) -> Words:
    result, carry = [], ir.Constant(I64, 0)
    for word in words:
        low, carry = multiply_add(builder, word, factor, carry, ir.Constant(I64, 0))
        result.append(low)
    return [*result, carry]


def _negate_if(builder: Builder, negative: Any, value: Any) -> Any:
    return builder.select(negative, builder.sub(ir.Constant(value.type, 0), value), value)


def _shifted_down(builder: Builder, field: Field, value: Any) -> Any:
    """value/2^31 modulo p, below p, for a value of at most 2^31·p in size: Montgomery's reduction."""
    wider = value.type
    negated_inverse = -pow(field.modulus, -1, 1 << STEPS) & LOW_MASK
    quotient = builder.mul(builder.trunc(value, I64), ir.Constant(I64, negated_inverse))
    quotient = builder.and_(quotient, ir.Constant(I64, LOW_MASK))
    multiple = to_integer(builder, _times(builder, constant(field.modulus, field.limbs), quotient))
    value = builder.ashr(builder.add(value, multiple), ir.Constant(wider, STEPS))  # in [−p, 2p)
    modulus, zero = ir.Constant(wider, field.modulus), ir.Constant(wider, 0)
    more = builder.add(value, modulus)
    value = builder.select(builder.icmp_signed("<", value, zero), more, value)
    less = builder.sub(value, modulus)
    value = builder.select(builder.icmp_signed("<", less, zero), value, less)
    return builder.trunc(value, ir.IntType(64 * field.limbs))
