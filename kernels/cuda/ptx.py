"""Field operations as PTX text: the carry chains that no compiler finds.

An element is n 32-bit words, least significant first, in Montgomery form with R = 2^(32·n) and below the
modulus, before and after. Every function returns instructions that read and write the registers named by its
arguments; a result's registers must not be operands. Scratch registers are those of `registers`.
"""

from kernels.fields import Field

Registers = list[str]
WORD_MASK = (1 << 32) - 1


def words_of(field: Field) -> int:
    """32-bit words of an element."""
    return 2 * field.limbs


def constant(value: int, words: int) -> Registers:
    """A number as immediate operands."""
    return [str(value >> 32 * i & WORD_MASK) for i in range(words)]


def scratch(kind: str, n: int) -> Registers:
    """Scratch registers of a kind: e, o and t have an element's words, s, u, v and w twice as many."""
    return [f"{kind}{i}" for i in range(n)]


def registers(field: Field) -> str:
    """The declaration of the scratch registers."""
    n = words_of(field)
    names = [name for kind in "eot" for name in scratch(kind, n)]
    names += [name for kind in "suvw" for name in scratch(kind, 2 * n)]
    return f".reg .u32 {','.join([*names, 'x', 'q'])}; .reg .pred is_below;"


def add(field: Field, out: Registers, a: Registers, b: Registers) -> list[str]:
    """out = a + b."""
    total = scratch("t", words_of(field))
    return [*chain("add", total, a, b), *reduce_once(field, out, total)]


def sub(field: Field, out: Registers, a: Registers, b: Registers) -> list[str]:
    """out = a − b: the modulus is added where the difference is negative."""
    n = words_of(field)
    difference, correction = scratch("t", n), scratch("e", n)
    return [
        *chain("sub", difference, a, b, carry_out=True),
        "subc.u32 q,0,0;",
        *(f"and.b32 {c},q,{p};" for c, p in zip(correction, constant(field.modulus, n), strict=True)),
        *chain("add", out, difference, correction, carry_out=True),
    ]


def mul(field: Field, out: Registers, a: Registers, b: Registers) -> list[str]:
    """out = a·b/R."""
    return _sum_products(field, out, [(a, b)])


def product_difference(
    field: Field, out: Registers, a: Registers, b: Registers, c: Registers, d: Registers
) -> list[str]:
    """out = (a·b − c·d)/R, with one reduction in place of two.

    Raises ValueError unless the modulus leaves two bits free.
    """
    n = words_of(field)
    if field.bits > 32 * n - 2:
        raise ValueError(f"{field.name}: a sum of two products needs two free bits above the modulus")
    negated = scratch("s", n)  # at most the modulus
    lines = chain("sub", negated, constant(field.modulus, n), c)
    return [*lines, *_sum_products(field, out, [(a, b), (negated, d)])]


def _sum_products(field: Field, out: Registers, factors: list[tuple[Registers, Registers]]) -> list[str]:
    """out = Σ a·b/R over pairs of factors, word by word of b, each followed by a division by 2^32 (CIOS).

    The sum is kept in two rows, one of pairs of words that begin at even places and one at odd. So the low
    and high word of each product are added to neighbours of one row, which is one multiply-add of 64 bits,
    and the row's carries run through. A division by 2^32 swaps the rows' roles. The sum stays below k + 1
    times the modulus for k pairs of factors, which must fit an element's words.
    """
    n = words_of(field)
    even, odd = scratch("e", n), scratch("o", n)
    lines: list[str] = []
    for i in range(n):
        for k, (a, b) in enumerate(factors):
            if i == k == 0:
                lines += _first_row(even, odd, a, b[i])
            else:
                lines += _add_row(even, odd, a, b[i], divided=k == 0)
        lines += _clear_lowest(field, even, odd)
        even, odd = odd, even[2:] + even[:2]
    total = scratch("t", n)
    lines.append(f"add.cc.u32 {total[0]},{even[0]},x;")
    for i in range(1, n):
        carry = carry_flag(i < n - 1)
        lines.append(f"addc{carry}.u32 {total[i]},{even[i]},{odd[i - 1] if i < n - 1 else 0};")
    return lines + reduce_once(field, out, total)


def _first_row(even: Registers, odd: Registers, a: Registers, b: str) -> list[str]:
    """even, odd = a·b."""
    lines = []
    for j in range(len(a)):
        row, place = (odd, j - 1) if j % 2 else (even, j)
        lines += [f"mul.lo.u32 {row[place]},{a[j]},{b};", f"mul.hi.u32 {row[place + 1]},{a[j]},{b};"]
    return lines


def _add_row(even: Registers, odd: Registers, a: Registers, b: str, divided: bool) -> list[str]:
    """even, odd += a·b; if `divided`, also the word x that the division before left over."""
    n = len(a)
    lines = [f"add.cc.u32 {even[0]},{even[0]},x;"] if divided else []
    for j in range(1, n, 2):
        is_top = divided and j == n - 1  # this pair was shifted in and counts as zero
        pair, carry_in = (odd[j - 1], odd[j]), divided or j > 1
        lines += add_product(pair, a[j], b, carry_in, carry_out=j < n - 1, is_zero=is_top)
    return [*lines, *_add_products(even, a[::2], b), f"addc.u32 {odd[n - 1]},{odd[n - 1]},0;"]


def _clear_lowest(field: Field, even: Registers, odd: Registers) -> list[str]:
    """even, odd += q·modulus so that the lowest word becomes zero; x = the second, for odd's row."""
    n = words_of(field)
    modulus = constant(field.modulus, n)
    lines = factor_that_clears(field, even[0])
    lines += _add_products(odd, modulus[1::2], "q", carry_out=False)
    lines += _add_products(even, modulus[::2], "q")
    return [*lines, f"addc.u32 {odd[n - 1]},{odd[n - 1]},0;", f"mov.u32 x,{even[1]};"]


def _add_products(row: Registers, factors: Registers, b: str, carry_out: bool = True) -> list[str]:
    """row += Σ factors[k]·b·2^(64·k)."""
    lines = []
    for k, factor in enumerate(factors):
        pair = row[2 * k], row[2 * k + 1]
        lines += add_product(pair, factor, b, carry_in=k > 0, carry_out=carry_out or k < len(factors) - 1)
    return lines


def add_product(
    pair: tuple[str, str], factor: str, b: str, carry_in: bool, carry_out: bool, is_zero: bool = False
) -> list[str]:
    """The pair of words += factor·b; is_zero: what the registers hold counts as zero."""
    low, high = ("0", "0") if is_zero else pair
    first, last = "c" if carry_in else "", carry_flag(carry_out)
    if factor == "1":
        return [f"add{first}.cc.u32 {pair[0]},{low},{b};", f"addc{last}.u32 {pair[1]},{high},0;"]
    return [
        f"mad{first}.lo.cc.u32 {pair[0]},{factor},{b},{low};",
        f"madc.hi{last}.u32 {pair[1]},{factor},{b},{high};",
    ]


def factor_that_clears(field: Field, lowest: str) -> list[str]:
    """q = −lowest/modulus modulo 2^32. Leaves the carry as it is."""
    negated_inverse = -pow(field.modulus, -1, 1 << 32) & WORD_MASK
    if (
        negated_inverse == WORD_MASK
    ):  # the assembler folds an outright negation into its uses, and loses pairs
        return [f"sub.u32 q,{lowest},1;", "not.b32 q,q;"]
    return [f"mul.lo.u32 q,{lowest},{negated_inverse};"]


def reduce_once(field: Field, out: Registers, total: Registers) -> list[str]:
    """out = total modulo the modulus, for a total below twice the modulus."""
    n = words_of(field)
    reduced = scratch("e", n)
    return [
        *chain("sub", reduced, total, constant(field.modulus, n), carry_out=True),
        "subc.u32 q,0,0;",
        "setp.eq.u32 is_below,q,0;",
        *(f"selp.u32 {o},{r},{t},is_below;" for o, r, t in zip(out, reduced, total, strict=True)),
    ]


def chain(operation: str, out: Registers, a: Registers, b: Registers, carry_out: bool = False) -> list[str]:
    """out = a ± b over all words."""
    last = len(out) - 1
    return [
        f"{operation}{'c' if i else ''}{carry_flag(carry_out or i < last)}.u32 {out[i]},{a[i]},{b[i]};"
        for i in range(last + 1)
    ]


def carry_flag(is_set: bool) -> str:
    """The modifier of an instruction that sets the carry."""
    return ".cc" if is_set else ""
