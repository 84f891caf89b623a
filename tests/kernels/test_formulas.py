"""The operators that formulas are written with, over prime and quadratic fields."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from kernels.cpu.formulas import Flag, Row, formula, load_word
from kernels.encoding import from_montgomery_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254
from tests.kernels.points import library, name

FIELDS = [BN254.fq, BN254.fq2, BLS12_381.fq, BLS12_381.fq2]
each_field = pytest.mark.parametrize("F", FIELDS, ids=name)


@formula
def _operators(out: Row, a: Row, flag: Flag) -> None:
    x, y = a[0], a[1]
    results = [x + y, x - y, x * y, -x, x.double(), x.square(), x.inverse(), x.one(), x.negative_if(flag)]
    for k, value in enumerate(results):
        out[k] = value


@formula
def _parts(out: Row, a: Row) -> None:
    c0, c1 = a[0].halves()
    out.over_base()[0] = c1
    out.over_base()[1] = c0
    out[1], out[2] = a[0].conjugate(), a[0].scaled(a.over_base()[2])


@formula
def _branches(out: Row, a: Row) -> None:
    with out.when(a[0].is_zero(), a[1].is_zero()):
        out[0] = a[2]
    with out.when(a[0] == a[1]):
        out[0] = a[3]
    out[0] = a[4]


@njit
def operators(F, out, out_first, a, first, flag):
    _operators(F, out, out_first, a, first, flag)


@njit
def parts(F, out, a):
    _parts(F, out, 0, a, 0)


@njit
def branches(F, out, a):
    _branches(F, out, 0, a, 0)


def prime(F):
    return F in (BN254.fq, BLS12_381.fq)


def element(F, data):
    q = F.modulus if prime(F) else F.base.modulus
    number = st.sampled_from([0, 1, q - 1]) | st.integers(0, q - 1)
    return data.draw(number if prime(F) else st.tuples(number, number))


def oracle(F, value):
    module = library(F)
    return module.FQ(value) if prime(F) else module.FQ2(value)


@each_field
@given(data=st.data(), flag=st.booleans())
@settings(max_examples=30, deadline=None)
def test_operators(F, data, flag):
    """Read from element 1 on and written from element 2 on."""
    x, y = element(F, data), element(F, data)
    a = to_montgomery_limbs(F, [y, x, y])
    out = np.zeros((12, *a.shape[1:]), np.uint64)
    operators(F, out, 2, a, 1, flag)
    X, Y = oracle(F, x), oracle(F, y)
    one = type(X).one()
    inverse = X if X == X - X else one / X
    expected = [X + Y, X - Y, X * Y, -X, X + X, X * X, inverse, one, -X if flag else X]
    got = [oracle(F, value) for value in from_montgomery_ints(F, out)]
    assert got[2:11] == expected
    assert not out[:2].any()
    assert not out[11:].any()


@pytest.mark.parametrize("F", [BN254.fq2, BLS12_381.fq2], ids=name)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_parts_of_quadratic_elements(F, data):
    (c0, c1), (factor, _) = element(F, data), element(F, data)
    a = to_montgomery_limbs(F, [(c0, c1), (factor, 0)])
    out = np.zeros((3, *a.shape[1:]), np.uint64)
    parts(F, out, a)
    q = F.base.modulus
    assert from_montgomery_ints(F, out) == [(c1, c0), (c0, -c1 % q), (c0 * factor % q, c1 * factor % q)]


@each_field
@pytest.mark.parametrize(
    ("first", "second", "chosen"), [(0, 0, 2), (5, 5, 3), (0, 5, 4), (5, 0, 4), (5, 6, 4)]
)
def test_branches_leave_the_formula(F, first, second, chosen):
    values = [first, second, 12, 13, 14]
    a = to_montgomery_limbs(F, values if prime(F) else [(0, value) for value in values])
    out = np.zeros_like(a[:1])
    branches(F, out, a)
    assert np.array_equal(out[0], a[chosen])


@each_field
def test_wrong_arguments_are_refused_at_compile_time(F):
    a = to_montgomery_limbs(F, [1] * 30 if prime(F) else [(1, 0)] * 30)
    for array, flag in ((a, 1), (a[::2], True), (1.5, True)):
        with pytest.raises(TypingError, match="_operators takes"):
            operators(F, array, 0, a, 0, flag)
    with pytest.raises(TypingError, match="must be a Field"):
        operators(BN254.g1, a, 0, a, 0, True)


@njit
def word(array, i):
    return load_word(array, i)


def test_words_of_bytes_at_any_address():
    text = np.frombuffer(b"x" + bytes(range(16)), np.uint8)[1:]
    assert word(text, 1) == int.from_bytes(bytes(range(8, 16)), "little")
    with pytest.raises(TypingError, match="C-contiguous"):
        word(text[::2], 0)
