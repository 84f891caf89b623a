"""Inverses of every field against Python's pow."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from kernels.cpu import field as f
from kernels.encoding import from_montgomery_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254
from tests.kernels.points import name

FIELDS = [BN254.fq, BN254.fr, BLS12_381.fq, BLS12_381.fr]
each_field = pytest.mark.parametrize("F", FIELDS, ids=name)


@njit
def invert(F, out, a):
    for i in range(a.shape[0]):
        f.store(F, out, i, f.inverse(F, f.load(F, a, i)))


def check(F, values):
    a = to_montgomery_limbs(F, values)
    out = np.full_like(a, 77)
    invert(F, out, a)
    p = F.modulus
    assert from_montgomery_ints(F, out) == [pow(value, -1, p) if value % p else 0 for value in values]


@each_field
def test_random_and_edge_values(F):
    rng, p = random.Random(1), F.modulus
    check(F, [rng.randrange(p) for _ in range(2000)])
    edges = [
        value % p for k in range(p.bit_length()) for value in (1 << k, (1 << k) - 1, -1 << k, (1 << k) + 1)
    ]
    check(F, edges)
    # The same of the words themselves: what the algorithm sees is the value times R.
    check(F, [value * pow(F.montgomery_one, -1, p) % p for value in edges])


@each_field
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_sparse_values(F, data):
    bits = st.integers(0, F.modulus.bit_length() - 1)
    values = st.lists(
        st.lists(bits, max_size=5).map(lambda chosen: sum(1 << k for k in set(chosen))), min_size=1
    )
    check(F, data.draw(values))
