"""Sums that the benchmarks check others by, against Python integers."""

import random

import pytest
from numba import cuda

from benchmarks.gpu.sums import inner_product, total
from kernels.encoding import ints_to_limbs
from kernels.fields import BLS12_381, BN254
from tests.kernels.points import name


@pytest.mark.parametrize("F", [BN254.fr, BLS12_381.fr], ids=name)
@pytest.mark.parametrize("n", [1, 2, 16])
def test_totals_and_inner_products(F, n):
    rng = random.Random(n)
    a, b = ([rng.randrange(F.modulus) for _ in range(n)] for _ in range(2))
    x, y = (cuda.to_device(ints_to_limbs(values, 4)) for values in (a, b))
    assert inner_product(F, x, y) == sum(u * v for u, v in zip(a, b, strict=True)) % F.modulus
    assert total(F, x) == sum(a) % F.modulus
