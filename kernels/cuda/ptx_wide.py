"""Products of twice an element's words as PTX text, and their reduction.

Products of words are summed by the place where they begin: even places in one sum, odd ones in another. So a
product's low and high word are added to neighbours, which is one multiply-add of 64 bits, and carries run
through a row.
"""

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


def multiply_wide(out: Registers, a: Registers, b: Registers) -> list[str]:
    """out = a·b, of as many words as both have."""
    n = len(a)
    odd = scratch("u", 2 * n)
    lines: list[str] = []
    written: set[str] = set()
    for i in range(n):
        for total, parity in ((out, i % 2), (odd, (i + 1) % 2)):
            pairs = [(i + j, a[j]) for j in range(parity, n, 2)]
            lines += add_pairs(total, pairs, b[i], written)
    lines = [*clear_unwritten((*out, *odd), written), *lines]
    return lines + chain("add", out[1:], out[1:], odd[1:])


def clear_unwritten(registers: tuple[str, ...], written: set[str]) -> list[str]:
    """Zeros for what no product is added to."""
    return [f"mov.u32 {register},0;" for register in registers if register not in written]


def add_pairs(total: Registers, pairs: list[tuple[int, str]], b: str, written: set[str]) -> list[str]:
    """total += Σ factor·b at each place; words that are not in `written` yet count as zero."""
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


def reduce_wide(field: Field, out: Registers, wide: Registers) -> list[str]:
    """out = wide/R modulo the modulus (REDC), for a number below R times the modulus. Overwrites `wide`."""
    n = words_of(field)
    reduced = scratch("t", n)
    lines = _reduce_low(field, reduced, wide[:n])
    lines += chain("add", reduced, reduced, wide[n:])
    return lines + reduce_once(field, out, reduced)


def _reduce_low(field: Field, out: Registers, low: Registers) -> list[str]:
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
