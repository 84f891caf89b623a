"""The curves' numbers against py_ecc, which was written by others, and against their own definitions."""

import subprocess
import sys

import pytest
from py_ecc import optimized_bls12_381, optimized_bn128

from kernels.fields import BLS12_381, BN254, CURVES, Curve, Field, QuadraticField, curve_of_scalar_modulus

ORACLES = [(BN254, optimized_bn128), (BLS12_381, optimized_bls12_381)]
both = pytest.mark.parametrize(("curve", "oracle"), ORACLES, ids=["bn254", "bls12381"])


@both
def test_moduli_and_groups(curve, oracle):
    assert curve.fq.modulus == oracle.field_modulus
    assert curve.fr.modulus == oracle.curve_order == curve.g1.order == curve.g2.order
    assert curve.g1.b == oracle.b.n
    assert curve.g2.b == tuple(int(part) for part in oracle.b2.coeffs)
    assert curve.g1.generator == tuple(part.n for part in oracle.normalize(oracle.G1))
    x, y = oracle.normalize(oracle.G2)
    assert curve.g2.generator == (tuple(map(int, x.coeffs)), tuple(map(int, y.coeffs)))


@both
def test_twist_is_that_of_the_tower(curve, oracle):
    xi = oracle.FQ2(curve.fq6_non_residue)
    b2 = oracle.FQ2([curve.g1.b, 0])
    assert oracle.FQ2(curve.g2.b) == (b2 / xi if curve.twist == "D" else b2 * xi)
    for exponent in (2, 3):  # ξ is neither a square nor a cube, so the tower is one of fields
        assert xi ** ((oracle.field_modulus**2 - 1) // exponent) != oracle.FQ2.one()


@both
def test_parameter_generates_the_family(curve, oracle):
    assert abs(curve.ate_loop) == oracle.optimized_pairing.ate_loop_count
    assert curve.ate_loop in (curve.x, 6 * curve.x + 2)


@both
def test_cofactors(curve, oracle):
    """cofactor·order kills points outside the subgroup, and the count is one that Hasse's bound allows."""
    q = curve.fq.modulus
    for group, size, element in ((curve.g1, q, oracle.FQ), (curve.g2, q * q, lambda x: oracle.FQ2([x, 1]))):
        count = group.cofactor * group.order
        assert (count - size - 1) ** 2 <= 4 * size
        b = oracle.b if group is curve.g1 else oracle.b2
        tried = ((element(x), square_root(element(x) ** 3 + b, size)) for x in range(2, 100))
        x, y = next(point for point in tried if point[1] is not None)
        point = (x, y, x / x)
        assert oracle.is_on_curve(point, b)
        assert oracle.is_inf(oracle.multiply(point, count))


def square_root(a, size):
    """A root in a field of `size` elements whose prime is 3 modulo 4; Adj, Rodríguez-Henríquez, 2012/685."""
    one = a / a
    q = size if size % 4 == 3 else round_root(size)
    if size % 4 == 3:
        root = a ** ((q + 1) // 4)
    else:
        step = a ** ((q - 3) // 4)
        alpha, base = step * step * a, step * a
        root = base * type(a)([0, 1]) if alpha == -one else base * (one + alpha) ** ((q - 1) // 2)
    return root if root * root == a else None


def round_root(size):
    return next(curve.fq.modulus for curve in CURVES.values() if curve.fq.modulus**2 == size)


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_roots_of_unity_are_those_of_snarkjs(curve: Curve):
    field = curve.fr
    assert field.two_adicity == {"bn254": 28, "bls12381": 32}[curve.name]
    assert all(pow(n, (field.modulus - 1) // 2, field.modulus) == 1 for n in range(2, field.non_residue))
    assert pow(field.root_of_unity, 1 << (field.two_adicity - 1), field.modulus) == field.modulus - 1
    assert field.root_of_order(0) == 1
    for log2_size in (1, 13, field.two_adicity):
        root, half = field.root_of_order(log2_size), field.root_of_order(log2_size - 1)
        assert root * root % field.modulus == half
        assert root != 1
    for beyond in (-1, field.two_adicity + 1):
        with pytest.raises(ValueError, match=rf"2\^{beyond}; at most 2\^{field.two_adicity}"):
            field.root_of_order(beyond)


def test_bn254_root_is_the_published_one():
    """ffjavascript's Fr.w[28], also in the sources of many verifiers."""
    root = 19103219067921713944291392827692070036145651957329286315305642004821462161904
    assert BN254.fr.root_of_unity == root


def test_montgomery_constants():
    for field in (BN254.fq, BN254.fr, BLS12_381.fq, BLS12_381.fr):
        r = 2 ** (8 * field.element_bytes)
        assert field.montgomery_one == r % field.modulus
        assert field.montgomery_r2 == r * r % field.modulus


def test_shapes():
    assert BLS12_381.g1.point_shape == (2, 6)
    assert BLS12_381.g2.point_shape == (2, 2, 6)
    assert (BN254.g1.point_bytes, BN254.g2.point_bytes) == (64, 128)
    assert isinstance(BN254.g2.field, QuadraticField)
    assert BN254.fr.bits == 254


def test_curve_of_scalar_modulus():
    assert curve_of_scalar_modulus(BN254.fr.modulus) is BN254
    assert curve_of_scalar_modulus(BLS12_381.fr.modulus) is BLS12_381
    assert curve_of_scalar_modulus(BN254.fq.modulus) is None


@pytest.mark.parametrize("modulus", [2**63 + 29, 2**64 + 13, 96])
def test_modulus_must_be_odd_and_leave_the_top_bit(modulus):
    with pytest.raises(ValueError, match="odd and below 2"):
        Field("odd one out", modulus, 1)


def test_describing_fields_does_not_load_numba():
    code = "import sys, kernels.fields, kernels.parallel; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
