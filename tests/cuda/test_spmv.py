"""Sparse products against Python integers."""

import random

import numpy as np
import pytest
from numba import cuda

from kernels.cuda.spmv import long_rows, multiply_rows
from kernels.encoding import ints_to_limbs, limbs_to_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import name

LENGTHS = [0, 1, 3, 5, 9] if SIMULATED else [0, 1, 2, 64, 65, 1000]


def starts_of(rows):
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)


@pytest.mark.parametrize("F", [BN254.fr, BLS12_381.fr], ids=name)
def test_sparse_product(F, many):
    rng = random.Random(4)
    x = [rng.randrange(F.modulus) for _ in range(many)]
    units = [[(rng.randrange(many), rng.choice((1, -1))) for _ in range(rng.choice(LENGTHS))] for _ in x]
    others = [
        [(rng.randrange(many), rng.randrange(F.modulus)) for _ in range(rng.choice(LENGTHS))] for _ in x
    ]
    signed = [column if sign > 0 else ~column for row in units for column, sign in row]
    columns = [column for row in others for column, _ in row]
    coefficients = to_montgomery_limbs(F, [value for row in others for _, value in row])
    unit_arrays = starts_of(units), np.array(signed, np.int32)
    other_arrays = starts_of(others), np.array(columns, np.uint32), coefficients
    out = cuda.to_device(np.full((many, F.limbs), 7, np.uint64))
    multiply_rows(
        F,
        out,
        tuple(map(cuda.to_device, unit_arrays)),
        tuple(map(cuda.to_device, other_arrays)),
        cuda.to_device(ints_to_limbs(x, F.limbs)),
        cuda.to_device(long_rows(unit_arrays[0], other_arrays[0])),
    )
    rows = [[*a, *b] for a, b in zip(units, others, strict=True)]
    expected = [sum(value * x[column] for column, value in row) % F.modulus for row in rows]
    assert limbs_to_ints(out.copy_to_host()) == expected
