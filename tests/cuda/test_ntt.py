"""Transforms against their definition in Python integers."""

import random

import numpy as np
import pytest
from numba import cuda

from kernels.cuda.ntt import PASS_LEVELS, ROUND_LEVELS, Domain, pass_shapes
from kernels.cuda.quotient import quotient
from kernels.encoding import from_montgomery_ints, ints_to_limbs, limbs_to_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import name

each_field = pytest.mark.parametrize("F", [BN254.fr, BLS12_381.fr], ids=name)
each_size = pytest.mark.parametrize("log2_size", [3, 5, 7] if SIMULATED else range(3, 15))


def transform(values, root, p):
    """Σ values[i]·root^(i·k) for each k, by halves."""
    if len(values) == 1:
        return values
    even, odd = (transform(values[k::2], root * root % p, p) for k in (0, 1))
    power, out = 1, [0] * len(values)
    for k in range(len(even)):
        out[k], out[k + len(even)] = (even[k] + power * odd[k]) % p, (even[k] - power * odd[k]) % p
        power = power * root % p
    return out


def random_elements(F, log2_size, seed=0):
    rng = random.Random(log2_size + 100 * seed)
    return [rng.randrange(F.modulus) for _ in range(1 << log2_size)]


@each_field
@each_size
def test_forward_and_inverse(F, log2_size):
    values = random_elements(F, log2_size)
    domain, a = Domain(F, log2_size), cuda.to_device(to_montgomery_limbs(F, values))
    domain.forward(a)
    expected = transform(values, F.root_of_order(log2_size), F.modulus)
    assert from_montgomery_ints(F, a.copy_to_host()) == expected
    domain.inverse(a)
    assert from_montgomery_ints(F, a.copy_to_host()) == values


def on_odd_coset(F, coefficients):
    log2_size = len(coefficients).bit_length() - 1
    shift = F.root_of_order(log2_size + 1)
    shifted = [c * pow(shift, i, F.modulus) for i, c in enumerate(coefficients)]
    return transform(shifted, F.root_of_order(log2_size), F.modulus)


@each_field
@each_size
def test_quotient(F, log2_size):
    p, root = F.modulus, F.root_of_order(log2_size)
    polynomials = [random_elements(F, log2_size, seed) for seed in range(3)]
    values = [transform(each, root, p) for each in polynomials]
    values[2] = [x * pow(F.montgomery_one, -1, p) % p for x in values[2]]
    arrays = [cuda.to_device(ints_to_limbs(each, F.limbs)) for each in values]
    quotient(Domain(F, log2_size), *arrays)
    a, b, c = (on_odd_coset(F, each) for each in polynomials)
    assert limbs_to_ints(arrays[0].copy_to_host()) == [
        (x * y - z) % p for x, y, z in zip(a, b, c, strict=True)
    ]


def test_passes_cover_every_level_and_fit_a_tile():
    for log2_size in range(3, 33):
        shapes = pass_shapes(log2_size)
        assert [shape[1] for shape in shapes] == [0, *(shape[1] + shape[2] for shape in shapes[:-1])]
        assert shapes[-1][1] + shapes[-1][2] == log2_size
        may_lack_levels = len(shapes) - 1 if shapes[0][2] == ROUND_LEVELS else 0
        whole = [shape for k, shape in enumerate(shapes) if k != may_lack_levels]
        assert all(shape[2] % ROUND_LEVELS == 0 for shape in whole)
        assert all(shape[2] <= PASS_LEVELS and shape[3] >= 0 for shape in shapes)


def test_misshapen_inputs_are_refused():
    F = BN254.fr
    for log2_size, message in ((2, "at least 8"), (29, "no root of unity")):
        with pytest.raises(ValueError, match=message):
            Domain(F, log2_size)
    for wrong in (np.zeros((4, 4), np.uint64), np.zeros((8, 4), np.int64)):
        with pytest.raises(ValueError, match="expected uint64"):
            Domain(F, 3).forward(cuda.to_device(wrong))
