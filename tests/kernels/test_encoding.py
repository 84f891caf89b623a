"""Integers to limbs and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.encoding import (
    decode_points,
    encode_points,
    from_montgomery_ints,
    ints_to_limbs,
    limbs_to_ints,
    to_montgomery_limbs,
)
from kernels.fields import BLS12_381, BN254, CURVES

FIELDS = [field for curve in CURVES.values() for field in (curve.fq, curve.fr)]


@given(st.lists(st.integers(0, 2**256 - 1)))
def test_limbs_and_back(values):
    array = ints_to_limbs(values, 4)
    assert array.shape == (len(values), 4)
    assert array.dtype == np.uint64
    assert limbs_to_ints(array) == values
    assert [sum(int(limb) << 64 * i for i, limb in enumerate(row)) for row in array] == values


def test_limbs_are_the_callers_own():
    array = ints_to_limbs([1], 4)
    assert array.flags.writeable
    assert array.flags.c_contiguous


@pytest.mark.parametrize("value", [-1, 2**256])
def test_out_of_range_is_refused(value):
    with pytest.raises(ValueError, match="more than 4 limbs"):
        ints_to_limbs([0, value], 4)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
@given(data=st.data())
def test_montgomery_and_back(field, data):
    values = data.draw(st.lists(st.integers(0, field.modulus - 1), max_size=5))
    array = to_montgomery_limbs(field, values)
    r = 2 ** (64 * field.limbs)
    assert limbs_to_ints(array) == [value * r % field.modulus for value in values]
    assert from_montgomery_ints(field, array) == values


def test_montgomery_takes_integers_modulo_p():
    p = BN254.fr.modulus
    array = to_montgomery_limbs(BN254.fr, [-1, p, p + 5])
    assert from_montgomery_ints(BN254.fr, array) == [p - 1, 0, 5]


def test_quadratic_elements():
    elements = [(1, 2), (0, BLS12_381.fq.modulus - 1)]
    array = to_montgomery_limbs(BLS12_381.fq2, elements)
    assert array.shape == (2, 2, 6)
    assert from_montgomery_ints(BLS12_381.fq2, array) == elements
    assert limbs_to_ints(array[0]) == limbs_to_ints(to_montgomery_limbs(BLS12_381.fq, [1, 2]))


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_points(curve):
    for group in (curve.g1, curve.g2):
        points = [group.generator, None, group.generator]
        array = encode_points(group, points)
        assert array.shape == (3, *group.point_shape)
        assert not array[1].any()
        assert decode_points(group, array) == points
        assert encode_points(group, []).shape == (0, *group.point_shape)
        assert decode_points(group, array[:0]) == []


def test_a_point_with_one_zero_coordinate_is_not_infinity():
    points = [(0, 5), (5, 0)]
    assert decode_points(BN254.g1, encode_points(BN254.g1, points)) == points
