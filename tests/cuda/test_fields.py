"""Operations on vectors against Python integers."""

import random

import numpy as np
import pytest
from numba import cuda

from kernels.cuda import field as f
from kernels.cuda import vectors
from kernels.cuda.inversion import inverse
from kernels.cuda.launch import kernel, launch
from kernels.encoding import from_montgomery_ints, ints_to_limbs, limbs_to_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254, Field
from tests.kernels.points import name

PRIME_FIELDS = (BN254.fq, BN254.fr, BLS12_381.fq, BLS12_381.fr)
FIELDS = (*PRIME_FIELDS, BN254.fq2, BLS12_381.fq2)
each_field = pytest.mark.parametrize("F", FIELDS, ids=name)


@kernel
def operate(F, out, a, b, operation):
    i = cuda.grid(1)
    if i < out.shape[0]:
        x, y = f.load(F, a, i), f.load(F, b, i)
        if operation == 0:
            x = f.add(F, x, y)
        elif operation == 1:
            x = f.sub(F, x, y)
        elif operation == 2:
            x = f.mul(F, x, y)
        else:
            x = f.square(F, x)
        f.store(F, out, i, f.select(F, f.is_zero(F, y), y, x))


def elements(F, rng, n):
    """Random elements after those that carry and borrow most."""
    p = F.modulus if isinstance(F, Field) else F.base.modulus
    edges = [0, 1, 2, p - 1, p - 2, pow(2, 400, p), -pow(2, 400, p) % p]
    numbers = [*edges, *(rng.randrange(p) for _ in range(2 * n))]
    rng.shuffle(numbers)
    return numbers[:n] if isinstance(F, Field) else list(zip(numbers[:n], numbers[n : 2 * n], strict=True))


def expected(F, operation, x, y):
    if y in (0, (0, 0)):
        return y
    if isinstance(F, Field):
        return (x + y, x - y, x * y, x * x)[operation] % F.modulus
    p, second = F.base.modulus, x if operation == 3 else y
    if operation < 2:
        return tuple(expected(F.base, operation, u, v) if v else u for u, v in zip(x, y, strict=True))
    return (x[0] * second[0] - x[1] * second[1]) % p, (x[0] * second[1] + x[1] * second[0]) % p


@each_field
@pytest.mark.parametrize("operation", range(4), ids=["add", "sub", "mul", "square"])
def test_operations(F, operation, many):
    rng = random.Random(operation)
    a, b = elements(F, rng, many), elements(F, rng, many)
    arrays = [cuda.to_device(to_montgomery_limbs(F, values)) for values in (a, a, b)]
    launch(operate, many, F, *arrays, operation)
    got = from_montgomery_ints(F, arrays[0].copy_to_host())
    assert got == [expected(F, operation, x, y) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("F", PRIME_FIELDS, ids=name)
def test_vectors(F, many):
    rng = random.Random(1)
    a, b, c = (elements(F, rng, many) for _ in range(3))
    x, y, z = (cuda.to_device(to_montgomery_limbs(F, values)) for values in (a, b, c))
    out = cuda.device_array(x.shape, np.uint64)
    vectors.multiply(F, out, x, y)
    assert from_montgomery_ints(F, out.copy_to_host()) == [
        u * v % F.modulus for u, v in zip(a, b, strict=True)
    ]
    vectors.scale(F, out, x, y)
    assert from_montgomery_ints(F, out.copy_to_host()) == [u * b[0] % F.modulus for u in a]
    vectors.multiply_subtract(F, x, x, y, z)
    vectors.from_montgomery(F, x, x)
    products = [(u * v - w) % F.modulus for u, v, w in zip(a, b, c, strict=True)]
    assert limbs_to_ints(x.copy_to_host()) == products
    vectors.to_montgomery(F, x, x)
    assert from_montgomery_ints(F, x.copy_to_host()) == products


def test_vectors_of_no_elements():
    out = cuda.to_device(ints_to_limbs([5], 4))
    vectors.multiply(BN254.fr, out[:0], out[:0], out[:0])
    assert limbs_to_ints(out.copy_to_host()) == [5]


@kernel
def invert(F, a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        f.store(F, a, i, inverse(F, f.load(F, a, i)))


@each_field
def test_inverse(F, many):
    a = elements(F, random.Random(2), many)
    array = cuda.to_device(to_montgomery_limbs(F, a))
    launch(invert, many, F, array)
    one, zero = (1, 0) if isinstance(F, Field) else ((1, 0), (0, 0))
    inverses = from_montgomery_ints(F, array.copy_to_host())
    products = [expected(F, 2, x, y) for x, y in zip(a, inverses, strict=True)]
    assert products == [one if x != zero else zero for x in a]
