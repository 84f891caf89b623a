"""The PTX of field operations, run by an interpreter, against Python integers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cuda import ptx
from kernels.cuda.ptx_inverse import combine, combine_modulo
from kernels.cuda.ptx_quadratic import quadratic_mul
from kernels.cuda.ptx_square import square
from kernels.fields import BLS12_381, BN254, Field
from tests.kernels.points import name
from tests.kernels.ptx_interpreter import Machine

FIELDS = (BN254.fq, BN254.fr, BLS12_381.fq, BLS12_381.fr)
WITH_TWO_FREE_BITS = (BN254.fq, BN254.fr, BLS12_381.fq)
each_field = pytest.mark.parametrize("F", FIELDS, ids=name)
operands = st.integers(0, 6) | st.integers(-6, -1) | st.integers(0, (1 << 400) - 1)


OPERATIONS = {
    "add": ptx.add,
    "sub": ptx.sub,
    "mul": ptx.mul,
    "square": square,
    "product_difference": ptx.product_difference,
}


def compute(F: Field, operation: str, *values: int) -> int:
    n = ptx.words_of(F)
    groups = [[f"{kind}{i}" for i in range(n)] for kind in "rabcd"[: len(values) + 1]]
    words = {
        register: value >> 32 * i & ptx.WORD_MASK
        for group, value in zip(groups[1:], values, strict=True)
        for i, register in enumerate(group)
    }
    machine = Machine(words)
    machine.run(OPERATIONS[operation](F, *groups))
    assert all(machine.registers[register] == word for register, word in words.items())
    return sum(machine.registers[register] << 32 * i for i, register in enumerate(groups[0]))


@each_field
@given(a=operands, b=operands)
@settings(max_examples=60)
def test_operations(F, a, b):
    p, (a, b) = F.modulus, (a % F.modulus, b % F.modulus)
    assert compute(F, "add", a, b) == (a + b) % p
    assert compute(F, "sub", a, b) == (a - b) % p
    assert compute(F, "mul", a, b) == a * b * pow(F.montgomery_one, -1, p) % p
    assert compute(F, "square", a) == a * a * pow(F.montgomery_one, -1, p) % p


@pytest.mark.parametrize("F", WITH_TWO_FREE_BITS, ids=name)
@given(a=operands, b=operands, c=operands, d=operands)
@settings(max_examples=60)
def test_differences_of_products(F, a, b, c, d):
    p, (a, b, c, d) = F.modulus, (each % F.modulus for each in (a, b, c, d))
    expected = (a * b - c * d) * pow(F.montgomery_one, -1, p) % p
    assert compute(F, "product_difference", a, b, c, d) == expected


def test_differences_of_products_want_two_free_bits():
    with pytest.raises(ValueError, match="two free bits"):
        compute(BLS12_381.fr, "product_difference", 1, 2, 3, 4)


@each_field
def test_sums_on_both_sides_of_the_modulus(F):
    p = F.modulus
    for total in (p - 1, p, p + 1, 2 * p - 2):
        a = min(total, p - 1)
        assert compute(F, "add", a, total - a) == total % p


@each_field
def test_words_of_all_ones_carry_through(F):
    ones = (1 << F.bits - 1) - 1
    for a in (ones, ones - ptx.WORD_MASK, F.modulus - 1):
        expected = a * a * pow(F.montgomery_one, -1, F.modulus) % F.modulus
        assert compute(F, "mul", a, a) == compute(F, "square", a) == expected


def test_registers_of_an_operation_are_declared():
    for F in WITH_TWO_FREE_BITS:
        groups = [[f"${kind}{i}" for i in range(ptx.words_of(F))] for kind in "rabcd"]
        declared = set(ptx.registers(F).replace(",", " ").replace(";", " ").split())
        for name_, operation in OPERATIONS.items():
            operands_ = {"square": 1, "product_difference": 4}.get(name_, 2)
            lines = operation(F, *groups[: operands_ + 1])
            written = {line.split()[1].split(",")[0] for line in lines}
            assert written <= declared | set(groups[0])


@st.composite
def factors(draw):
    """f and g whose sizes add up to at most 2^31."""
    f = draw(st.sampled_from([0, 1, 1 << 31]) | st.integers(0, 1 << 31))
    g = draw(st.just((1 << 31) - f) | st.integers(0, (1 << 31) - f))
    return draw(st.sampled_from([f, -f])), draw(st.sampled_from([g, -g]))


def run_combination(F, operation, u, v, pair):
    n = ptx.words_of(F)
    out, first, second = ([f"{kind}{i}" for i in range(n)] for kind in "rab")
    machine = Machine({f"a{i}": u >> 32 * i & ptx.WORD_MASK for i in range(n)})
    machine.registers.update({f"b{i}": v >> 32 * i & ptx.WORD_MASK for i in range(n)})
    for name_, factor in zip("fg", pair, strict=True):
        machine.registers.update({name_: abs(factor), f"{name_}_sign": ptx.WORD_MASK if factor < 0 else 0})
    machine.run(operation(F, [*out, "sign"], first, second, ["f", "f_sign", "g", "g_sign"]))
    return sum(machine.registers[register] << 32 * i for i, register in enumerate(out)), machine


@each_field
@given(u=operands, v=operands, pair=factors())
@settings(max_examples=60)
def test_combinations_of_an_inversion(F, u, v, pair):
    p, u, v = F.modulus, u % F.modulus, v % F.modulus
    total = pair[0] * u + pair[1] * v
    size, machine = run_combination(F, combine, u, v, pair)
    assert machine.registers["sign"] == (ptx.WORD_MASK if total < 0 else 0)
    assert size == abs(total >> 31)
    reduced, _ = run_combination(F, lambda F, out, *rest: combine_modulo(F, out[:-1], *rest), u, v, pair)
    assert reduced == total * pow(2, -31, p) % p


@pytest.mark.parametrize("F", [BN254.fq, BLS12_381.fq], ids=name)
@given(values=st.tuples(operands, operands, operands, operands))
@settings(max_examples=60)
def test_product_over_the_quadratic_field(F, values):
    p, n = F.modulus, ptx.words_of(F)
    a0, a1, b0, b1 = (value % p for value in values)
    groups = [[f"{kind}{i}" for i in range(2 * n)] for kind in ("r", "x", "y")]
    machine = Machine({})
    for group, pair in zip(groups[1:], ((a0, a1), (b0, b1)), strict=True):
        whole = pair[0] | pair[1] << 32 * n
        machine.registers.update({each: whole >> 32 * i & ptx.WORD_MASK for i, each in enumerate(group)})
    machine.run(quadratic_mul(F, *groups))
    whole = sum(machine.registers[each] << 32 * i for i, each in enumerate(groups[0]))
    inverse_r = pow(F.montgomery_one, -1, p)
    assert whole % (1 << 32 * n) == (a0 * b0 - a1 * b1) * inverse_r % p
    assert whole >> 32 * n == (a0 * b1 + a1 * b0) * inverse_r % p
