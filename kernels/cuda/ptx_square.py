"""The Montgomery square as PTX text: each product of two different words is taken once and doubled."""

from kernels.cuda.ptx import (
    Registers,
    add_product,
    carry_flag,
    chain,
    constant,
    factor_that_clears,
    reduce_once,
    scratch,
    words_of,
)
from kernels.fields import Field


def square(field: Field, out: Registers, a: Registers) -> list[str]:
    """out = a²/R: the whole square, then its lower half reduced (REDC) and added to the upper."""
    n = words_of(field)
    wide, odd = scratch("s", 2 * n), scratch("u", 2 * n)
    lines = [*_cross_products(wide, odd, a), *_double_and_add_squares(wide, odd, a)]
    reduced = scratch("t", n)
    lines += _reduce(field, reduced, wide[:n])
    lines += chain("add", reduced, reduced, wide[n:])
    return lines + reduce_once(field, out, reduced)


def _cross_products(even: Registers, odd: Registers, a: Registers) -> list[str]:
    """Σ a[i]·a[j], i < j, by word: pairs that begin at even places in one sum, at odd ones in the other."""
    lines: list[str] = []
    written: set[str] = set()
    for i in range(len(a) - 1):
        for total, first in ((odd, i + 1), (even, i + 2)):
            pairs = [(i + j, a[j]) for j in range(first, len(a), 2)]
            lines += _add_pairs(total, pairs, a[i], written)
    unwritten = [register for register in (*even, *odd) if register not in written]
    return [*(f"mov.u32 {register},0;" for register in unwritten), *lines]


def _add_pairs(total: Registers, pairs: list[tuple[int, str]], b: str, written: set[str]) -> list[str]:
    """total += Σ factor·b at each place; words that nothing was added to yet count as zero."""
    if not pairs:
        return []
    if all(total[place + k] not in written for place, _ in pairs for k in (0, 1)):
        lines = []
        for place, factor in pairs:
            lines += [
                f"mul.lo.u32 {total[place]},{factor},{b};",
                f"mul.hi.u32 {total[place + 1]},{factor},{b};",
            ]
            written |= {total[place], total[place + 1]}
        return lines
    lines = []
    for k, (place, factor) in enumerate(pairs):
        low, high = total[place], total[place + 1]
        is_last, carries = k == len(pairs) - 1, high in written
        low_before, high_before = (word if word in written else "0" for word in (low, high))
        lines.append(f"mad{'c' if k else ''}.lo.cc.u32 {low},{factor},{b},{low_before};")
        lines.append(f"madc.hi{carry_flag(carries or not is_last)}.u32 {high},{factor},{b},{high_before};")
        written |= {low, high}
        if is_last and carries:
            lines.append(f"addc.u32 {total[place + 2]},0,0;")
            written.add(total[place + 2])
    return lines


def _double_and_add_squares(wide: Registers, odd: Registers, a: Registers) -> list[str]:
    """wide = 2·(wide + odd) + Σ a[i]²·2^(64·i)."""
    lines = chain("add", wide[1:], wide[1:], odd[1:])
    lines += chain("add", wide[1:], wide[1:], wide[1:])
    for i, word in enumerate(a):
        low, high = wide[2 * i], wide[2 * i + 1]
        lines.append(f"mad{'c' if i else ''}.lo.cc.u32 {low},{word},{word},{low};")
        lines.append(f"madc.hi{carry_flag(i < len(a) - 1)}.u32 {high},{word},{word},{high};")
    return lines


def _reduce(field: Field, out: Registers, low: Registers) -> list[str]:
    """out = (low + q·modulus)/R with the q that makes it whole: at most the modulus."""
    n = len(low)
    modulus = constant(field.modulus, n)
    even, odd = list(low), scratch("o", n)
    lines: list[str] = []
    for i in range(n):
        if i:
            lines.append(f"add.cc.u32 {even[0]},{even[0]},x;")
        lines += factor_that_clears(field, even[0])
        for j in range(0, n, 2):
            is_zero = i == 0 or j == n - 2  # shifted in
            pair, carry_in = (odd[j], odd[j + 1]), i > 0 or j > 0
            lines += add_product(pair, modulus[j + 1], "q", carry_in, carry_out=j < n - 2, is_zero=is_zero)
        for j in range(0, n, 2):
            lines += add_product((even[j], even[j + 1]), modulus[j], "q", carry_in=j > 0, carry_out=True)
        lines += [f"addc.u32 {odd[n - 1]},{odd[n - 1]},0;", f"mov.u32 x,{even[1]};"]
        even, odd = odd, [*even[2:], *even[:2]]
    lines.append(f"add.cc.u32 {out[0]},{even[0]},x;")
    for i in range(1, n):
        lines.append(f"addc{carry_flag(i < n - 1)}.u32 {out[i]},{even[i]},{odd[i - 1] if i < n - 1 else 0};")
    return lines
