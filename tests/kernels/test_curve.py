"""Point arithmetic against py_ecc, above all where the formulas have their exceptions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import curve
from kernels.encoding import encode_points
from kernels.fields import BLS12_381, BN254
from tests.kernels.points import (
    GROUPS,
    WITH_COFACTOR,
    add,
    decoded,
    encoded,
    multiples,
    multiply,
    name,
    negative,
    off_subgroup,
    scaled_rows,
)

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
SMALL = range(-4, 5)


def times(G, i):
    """i·G for a small i, by the oracle."""
    return multiples(G, 9)[i] if i >= 0 else negative(G, multiples(G, 9)[-i])


@each_group
def test_negation(G):
    for i in SMALL:
        assert decoded(G, curve.negate_point(G, encoded(G, times(G, i)))) == times(G, -i)


@each_group
def test_sums_with_infinity_equal_and_opposite_points(G):
    for i in SMALL:
        for j in SMALL:
            total = curve.add_points(G, encoded(G, times(G, i)), encoded(G, times(G, j)))
            assert decoded(G, total) == times(G, i + j)


@each_group
def test_sums_of_points_with_denominators(G):
    z, other = (3, 5) if G.field in (BN254.fq, BLS12_381.fq) else ((3, 1), (0, 7))
    for i in SMALL:
        for j in SMALL:
            rows = np.concatenate([scaled_rows(G, times(G, i), z), scaled_rows(G, times(G, j), other)])
            assert decoded(G, curve.fold(G, rows, 2, 0)) == times(G, i + j)
            assert decoded(G, curve.fold(G, rows, 1, 1)) == add(G, times(G, i), times(G, 2 * j))


@each_group
@given(values=st.lists(st.integers(-4, 4), min_size=1, max_size=6))
@settings(max_examples=15, deadline=None)
def test_fold_weighs_groups_by_powers_of_two(G, values):
    rows = curve.lift(G, encode_points(G, [times(G, i) for i in values]))
    for group_size in {1, len(values)}:
        for shift in (0, 3):
            total = sum(i << shift * (k // group_size) for k, i in enumerate(values))
            got = decoded(G, curve.fold(G, rows, group_size, shift))
            assert got == multiply(G, G.generator, total % G.order)


@each_group
def test_points_become_affine_whatever_their_denominator(G):
    z = 9 if G.field in (BN254.fq, BLS12_381.fq) else (9, 4)
    for i in (0, 1, -2, 3):
        rows = scaled_rows(G, times(G, i), z)
        assert decoded(G, curve.fold(G, rows, 1, 0)) == times(G, i)


@each_group
def test_multiples_by_edge_scalars(G):
    r, generator = G.order, encoded(G, G.generator)
    for scalar in (0, 1, 2, 3, r - 1, r, r + 1, 1 << 64, (1 << 256) - 1):
        got = curve.multiply_point(G, generator, scalar)
        assert decoded(G, got) == multiply(G, G.generator, scalar)
        assert decoded(G, curve.multiply_point(G, generator, -scalar)) == negative(G, decoded(G, got))
    assert not curve.multiply_point(G, encoded(G, None), 5).any()


@each_group
@given(scalar=st.integers(0, (1 << 256) - 1))
@settings(max_examples=10, deadline=None)
def test_multiples_are_the_oracles(G, scalar):
    got = curve.multiply_point(G, encoded(G, G.generator), scalar)
    assert decoded(G, got) == multiply(G, G.generator, scalar)


@each_group
def test_subgroup(G):
    for i in SMALL:
        assert curve.in_subgroup(G, encoded(G, times(G, i)))
    # (4x, 8y) has the right order, but on the isomorphic curve y² = x³ + 64·b.
    x, y = (np.array(part, object) for part in G.generator)
    off_curve = encode_points(G, [(4 * x, 8 * y)])[0]
    assert not curve.multiply_point(G, off_curve, G.order).any()
    assert not curve.in_subgroup(G, off_curve)


@pytest.mark.parametrize("G", WITH_COFACTOR, ids=name)
def test_points_outside_the_subgroup(G):
    outside = off_subgroup(G)
    array = encoded(G, outside)
    assert curve.first_not_on_curve(G, array[None], 0, 1) == -1
    assert not curve.in_subgroup(G, array)
    assert curve.in_subgroup(G, encoded(G, multiply(G, outside, G.cofactor)))
    for scalar in (2, 3, G.order, G.order + 1):
        assert decoded(G, curve.multiply_point(G, array, scalar)) == multiply(G, outside, scalar)
    inside = encoded(G, G.generator)
    assert not curve.in_subgroup(G, curve.add_points(G, array, inside))


def test_point_of_order_three_with_x_zero():
    """(0, 2) lies on BLS12-381; half of it is zero words, yet it is no infinity."""
    G = BLS12_381.g1
    point = encoded(G, (0, 2))
    assert curve.first_not_on_curve(G, point[None], 0, 1) == -1
    assert not curve.in_subgroup(G, point)
    assert decoded(G, curve.add_points(G, point, point)) == negative(G, (0, 2))
    assert not curve.multiply_point(G, point, 3).any()
    assert decoded(G, curve.multiply_point(G, point, G.order)) == multiply(G, (0, 2), G.order)


@each_group
def test_first_point_not_on_the_curve(G):
    points = encode_points(G, multiples(G, 9))
    assert curve.first_not_on_curve(G, points, 0, 9) == -1
    for bad in (1, 8):
        wrong = points.copy()
        wrong[bad].reshape(-1)[-1] ^= np.uint64(1)
        assert curve.first_not_on_curve(G, wrong, 0, 9) == bad
        assert curve.first_not_on_curve(G, wrong, bad, 9) == bad
        assert curve.first_not_on_curve(G, wrong, 0, bad) == -1
    wrong = points.copy()
    wrong[3, 1] = 0
    assert curve.first_not_on_curve(G, wrong, 0, 9) == 3


def test_files_maps_of_any_kind_share_one_compiled_kernel():
    G = BN254.g1
    points = encode_points(G, multiples(G, 9))
    read_only = points.copy()
    read_only.flags.writeable = False
    shifted = np.frombuffer(b"odd" + points.tobytes(), np.uint8)[3:].view(np.uint64).reshape(points.shape)
    assert not shifted.flags.aligned
    curve.first_not_on_curve(G, points, 0, 9)
    compiled = len(curve._first_not_on_curve.signatures)
    for same in (read_only, shifted):
        assert curve.first_not_on_curve(G, same, 0, 9) == -1
    assert len(curve._first_not_on_curve.signatures) == compiled
    with pytest.raises(ValueError, match="C-contiguous"):
        curve.first_not_on_curve(G, points[::2], 0, 4)
