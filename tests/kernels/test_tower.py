"""Fq12 against py_ecc's polynomials and against powers by definition."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import tower
from kernels.cpu.tower import Fq12, non_adjacent_form, one
from kernels.encoding import to_montgomery_limbs
from tests.kernels.points import CURVES, name, to_fq12

each_curve = pytest.mark.parametrize("curve", CURVES, ids=name)


def element(curve, seed):
    """A random element; seeds below 12 give one with a single 1, −1 or both among zeros."""
    rng, q = random.Random(seed), curve.fq.modulus
    if seed < 12:
        coefficients = [(0, 0)] * 6
        coefficients[seed // 2] = (seed % 2, q - 1)
    else:
        coefficients = [(rng.randrange(q), rng.randrange(q)) for _ in range(6)]
    return Fq12(curve, to_montgomery_limbs(curve.fq2, coefficients))


def unitary(curve, seed):
    """An element of order dividing q⁴ − q² + 1."""
    f = element(curve, seed + 12)
    f = f.conjugate() * f.inverse()
    return f.frobenius(2) * f


seeds = st.integers(0, 11) | st.integers(12, 10**6)


@each_curve
@given(a=seeds, b=seeds)
@settings(max_examples=25, deadline=None)
def test_products_and_squares(curve, a, b):
    a, b = element(curve, a), element(curve, b)
    assert to_fq12(a * b) == to_fq12(a) * to_fq12(b)
    out, sums = np.empty_like(a.coefficients), np.zeros_like(a.coefficients[:2])
    tower.square_into(curve.fq2, out, a.coefficients, sums, tower.non_residue(curve))
    assert to_fq12(Fq12(curve, out)) == to_fq12(a) * to_fq12(a)
    assert not sums.any()


@each_curve
@given(a=seeds)
@settings(max_examples=15, deadline=None)
def test_inverse(curve, a):
    a = element(curve, a)
    assert (a * a.inverse()).is_one()
    assert to_fq12(a.inverse()) == to_fq12(a).inv()


@each_curve
def test_inverse_of_zero_is_zero(curve):
    zero = Fq12(curve, np.zeros((6, 2, curve.fq.limbs), np.uint64))
    assert not zero.inverse().coefficients.any()


@each_curve
def test_frobenius_is_the_power_q(curve):
    for seed in (2, 3, 20):
        a, q = element(curve, seed), curve.fq.modulus
        assert to_fq12(a.frobenius()) == to_fq12(a) ** q
        assert to_fq12(a.frobenius(3)) == ((to_fq12(a) ** q) ** q) ** q
        assert np.array_equal(a.frobenius(12).coefficients, a.coefficients)
        assert np.array_equal(a.conjugate().conjugate().coefficients, a.coefficients)


@each_curve
@given(seed=st.integers(0, 100), exponent=st.integers(-(1 << 70), 1 << 70) | st.integers(-9, 9))
@settings(max_examples=15, deadline=None)
def test_powers_in_the_cyclotomic_subgroup(curve, seed, exponent):
    a = unitary(curve, seed)
    assert (a * a.conjugate()).is_one()
    expected = to_fq12(a) ** abs(exponent)
    assert to_fq12(a.unitary_power(exponent)) == (expected if exponent >= 0 else expected.inv())


@each_curve
def test_only_one_is_one(curve):
    assert one(curve).is_one()
    for seed in range(14):
        assert not element(curve, seed).is_one()


@given(value=st.integers(-(1 << 300), 1 << 300))
def test_non_adjacent_form(value):
    digits = [int(digit) for digit in non_adjacent_form(value)]
    assert sum(digit << i for i, digit in enumerate(digits[::-1])) == value
    assert not any(a and b for a, b in pairwise(digits))
    assert set(digits) <= {-1, 0, 1}
