"""The Montgomery square as PTX text: each product of two different words is taken once and doubled."""

from kernels.cuda.ptx import Registers, carry_flag, chain, scratch, words_of
from kernels.cuda.ptx_wide import add_pairs, clear_unwritten, reduce_wide
from kernels.fields import Field


def square(field: Field, out: Registers, a: Registers) -> list[str]:
    """out = a²/R."""
    n = words_of(field)
    wide, odd = scratch("s", 2 * n), scratch("u", 2 * n)
    lines = [*_cross_products(wide, odd, a), *_double_and_add_squares(wide, odd, a)]
    return lines + reduce_wide(field, out, wide)


def _cross_products(even: Registers, odd: Registers, a: Registers) -> list[str]:
    """even + odd = Σ a[i]·a[j]·2^(32·(i + j)), i < j."""
    lines: list[str] = []
    written: set[str] = set()
    for i in range(len(a) - 1):
        for total, first in ((odd, i + 1), (even, i + 2)):
            pairs = [(i + j, a[j]) for j in range(first, len(a), 2)]
            lines += add_pairs(total, pairs, a[i], written)
    return [*clear_unwritten((*even, *odd), written), *lines]


def _double_and_add_squares(wide: Registers, odd: Registers, a: Registers) -> list[str]:
    """wide = 2·(wide + odd) + Σ a[i]²·2^(64·i)."""
    lines = chain("add", wide[1:], wide[1:], odd[1:])
    lines += chain("add", wide[1:], wide[1:], wide[1:])
    for i, word in enumerate(a):
        low, high = wide[2 * i], wide[2 * i + 1]
        lines.append(f"mad{'c' if i else ''}.lo.cc.u32 {low},{word},{word},{low};")
        lines.append(f"madc.hi{carry_flag(i < len(a) - 1)}.u32 {high},{word},{word},{high};")
    return lines
