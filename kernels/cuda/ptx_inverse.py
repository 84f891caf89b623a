"""The long steps of an inversion as PTX text (`kernels.cuda.inversion` says what for).

A factor is its size, at most 2^31, and its sign: all bits of a word where it is negative, else none. The
sizes of two factors that belong together add up to at most 2^31.
"""

from kernels.cuda.ptx import (
    WORD_MASK,
    Registers,
    add_product,
    chain,
    constant,
    reduce_once,
    scratch,
    words_of,
)
from kernels.fields import Field

STEPS = 31


def combine(field: Field, out: Registers, u: Registers, v: Registers, factors: Registers) -> list[str]:
    """out = |f·u + g·v|/2^31, without what is left over, and after its words a word that is −1 if that was
    negative, else 0.

    factors: size and sign of f, size and sign of g.
    """
    n = words_of(field)
    lines = _signed_sum(field, u, v, factors)
    sign, shifted = out[n], scratch("e", n)
    lines += _shift_down(shifted, scratch("s", n + 1))
    lines.append(f"shr.s32 {sign},s{n},31;")
    lines += [f"xor.b32 {each},{each},{sign};" for each in shifted]
    lines.append("and.b32 q," + sign + ",1;")
    return lines + chain("add", out[:n], shifted, ["q", *["0"] * (n - 1)], carry_out=True)


def combine_modulo(field: Field, out: Registers, b: Registers, c: Registers, factors: Registers) -> list[str]:
    """out = (f·b + g·c)/2^31 modulo the modulus."""
    n = words_of(field)
    modulus = constant(field.modulus, n)
    total, shifted = scratch("s", n + 1), scratch("t", n)
    lines = _signed_sum(field, b, c, factors)
    lines += [f"mul.lo.u32 q,s0,{-pow(field.modulus, -1, 1 << 32) & WORD_MASK};"]
    lines += [f"and.b32 q,q,{(1 << STEPS) - 1};"]
    lines += _multiply(scratch("u", n + 1), modulus, "q")
    lines += chain("add", total, total, scratch("u", n + 1), carry_out=True)
    lines += _shift_down(shifted, total)  # from −modulus to less than twice the modulus
    lines.append(f"shr.s32 x,s{n},31;")
    lines += [f"and.b32 e{i},x,{word};" for i, word in enumerate(modulus)]
    lines += chain("add", shifted, shifted, scratch("e", n), carry_out=True)
    return lines + reduce_once(field, out, shifted)


def _signed_sum(field: Field, u: Registers, v: Registers, factors: Registers) -> list[str]:
    """s0 … sn = f·u + g·v in two's complement."""
    n = words_of(field)
    first, second = scratch("s", n + 1), scratch("u", n + 1)
    lines: list[str] = []
    for total, words, size, sign in ((first, u, *factors[:2]), (second, v, *factors[2:])):
        lines += _multiply(total, words, size)
        lines += [f"xor.b32 {each},{each},{sign};" for each in total]
        lines.append(f"and.b32 q,{sign},1;")
        lines += chain("add", total, total, ["q", *["0"] * n], carry_out=True)
    return lines + chain("add", first, first, second, carry_out=True)


def _multiply(out: Registers, words: Registers, factor: str) -> list[str]:
    """out = words·factor, a word longer: even places first, then odd ones added."""
    n = len(words)
    lines = [f"mov.u32 {out[n]},0;"]
    for i in range(0, n, 2):
        lines += [
            f"mul.lo.u32 {out[i]},{words[i]},{factor};",
            f"mul.hi.u32 {out[i + 1]},{words[i]},{factor};",
        ]
    for i in range(1, n, 2):
        pair = out[i], out[i + 1]
        lines += add_product(pair, words[i], factor, carry_in=i > 1, carry_out=i < n - 1)
    return lines


def _shift_down(out: Registers, total: Registers) -> list[str]:
    """out = the words of total/2^31, rounded down."""
    return [f"shf.l.wrap.b32 {out[i]},{total[i]},{total[i + 1]},1;" for i in range(len(out))]
