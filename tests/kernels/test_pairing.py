"""The pairing check: against py_ecc's pairing, and by what defines a pairing."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu.curve import multiply_point
from kernels.cpu.pairing import final_exponentiation, miller_loop, pairing_product_is_one
from kernels.encoding import encode_points
from tests.kernels.points import CURVES, encoded, library, multiples, name, to_fq12

each_curve = pytest.mark.parametrize("curve", CURVES, ids=name)


def product_is_one(curve, *exponents):
    """Π e(a·G1, b·G2) for pairs (a, b)."""
    g1, g2 = encoded(curve.g1, curve.g1.generator), encoded(curve.g2, curve.g2.generator)
    return pairing_product_is_one(
        curve,
        np.array([multiply_point(curve.g1, g1, a) for a, _ in exponents]).reshape(-1, *curve.g1.point_shape),
        np.array([multiply_point(curve.g2, g2, b) for _, b in exponents]).reshape(-1, *curve.g2.point_shape),
    )


@each_curve
def test_value_is_a_known_power_of_py_eccs(curve):
    """Our final power is a multiple of (q¹² − 1)/r, and for a negative x we leave the inverse out."""
    module, x = library(curve), curve.x
    g1, g2 = (
        encode_points(curve.g1, [multiples(curve.g1, 9)[5]]),
        encode_points(curve.g2, [curve.g2.generator]),
    )
    ours = to_fq12(final_exponentiation(miller_loop(curve, g1, g2)))
    theirs = module.pairing(module.G2, module.multiply(module.G1, 5))
    multiple = 2 * x * (6 * x * x + 3 * x + 1) if curve.twist == "D" else 3
    assert ours in (theirs**multiple, theirs.inv() ** multiple)
    assert ours != module.FQ12.one()


@each_curve
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_bilinear(curve, data):
    r = curve.fr.modulus
    numbers = st.sampled_from([0, 1, 2, r - 1]) | st.integers(0, r - 1)
    a, b, c = (data.draw(numbers) for _ in range(3))
    assert product_is_one(curve, (a, b), (-a * b % r, 1))
    assert product_is_one(curve, (a, b), (1, -a * b % r))
    assert product_is_one(curve, (a, b), (c, b), (r - (a + c) % r, b))
    assert product_is_one(curve, (a, b), (c, 1)) == ((a * b + c) % r == 0)


@each_curve
def test_not_degenerate(curve):
    for a, b in ((1, 1), (1, -1), (2, 3), (curve.fr.modulus - 1, 7)):
        assert not product_is_one(curve, (a, b))


@each_curve
def test_relation_of_a_groth16_proof(curve):
    """A·B = α·β + x·γ + C·δ with random logarithms, and each of them off by one."""
    rng, r = random.Random(3), curve.fr.modulus
    a, b, alpha, beta, x, gamma, delta = (rng.randrange(1, r) for _ in range(7))
    c = (a * b - alpha * beta - x * gamma) * pow(delta, -1, r) % r
    right = [(r - a, b), (alpha, beta), (x, gamma), (c, delta)]
    assert product_is_one(curve, *right)
    for i in range(4):
        for da, db in ((1, 0), (0, 1), (r - 1, 0)):
            wrong = list(right)
            wrong[i] = ((wrong[i][0] + da) % r, (wrong[i][1] + db) % r)
            assert not product_is_one(curve, *wrong)
    assert not product_is_one(curve, *right[:3])


@each_curve
def test_infinity_contributes_one(curve):
    assert product_is_one(curve)
    assert product_is_one(curve, (0, 1))
    assert product_is_one(curve, (1, 0), (0, 0))
    assert product_is_one(curve, (0, 5), (3, 4), (7, 0), (-12, 1))
    assert not product_is_one(curve, (0, 5), (3, 4), (7, 0), (-11, 1))


@each_curve
def test_order_and_repetition_of_pairs(curve):
    assert product_is_one(curve, (-6, 1), (1, 2), (2, 1), (2, 1))
    assert product_is_one(curve, (2, 1), (1, 2), (2, 1), (-6, 1))
    assert not product_is_one(curve, (2, 1), (2, 1))


@each_curve
def test_misshapen_points_are_refused(curve):
    g1, g2 = encode_points(curve.g1, multiples(curve.g1, 3)), encode_points(curve.g2, multiples(curve.g2, 3))
    for p, q in ((g1[:2], g2), (g1, g2[:, :, 0]), (g2, g1), (g1[0], g2[0])):
        with pytest.raises(ValueError, match="points have shapes"):
            pairing_product_is_one(curve, p, q)
