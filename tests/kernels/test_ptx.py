"""The PTX of field operations, run by an interpreter, against Python integers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cuda import ptx
from kernels.cuda.ptx_square import square
from kernels.fields import BLS12_381, BN254, Field
from tests.kernels.points import name
from tests.kernels.ptx_interpreter import Machine

FIELDS = (BN254.fq, BN254.fr, BLS12_381.fq, BLS12_381.fr)
each_field = pytest.mark.parametrize("F", FIELDS, ids=name)
operands = st.integers(0, 6) | st.integers(-6, -1) | st.integers(0, (1 << 400) - 1)


OPERATIONS = {"add": ptx.add, "sub": ptx.sub, "mul": ptx.mul, "square": square}


def compute(F: Field, operation: str, *values: int) -> int:
    n = ptx.words_of(F)
    groups = [[f"{kind}{i}" for i in range(n)] for kind in ("r", "a", "b")[: len(values) + 1]]
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
    for F in FIELDS:
        groups = [[f"${kind}{i}" for i in range(ptx.words_of(F))] for kind in "rab"]
        declared = set(ptx.registers(F).replace(",", " ").replace(";", " ").split())
        for name_, operation in OPERATIONS.items():
            lines = operation(F, *groups[: 2 if name_ == "square" else 3])
            written = {line.split()[1].split(",")[0] for line in lines}
            assert written <= declared | set(groups[0])
