"""Sparse products against Python integers."""

import random

import numpy as np
import pytest
from numba import cuda

from kernels.cuda.spmv import long_rows, multiply_rows
from kernels.encoding import from_montgomery_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import name

LENGTHS = [0, 1, 4, 5, 9] if SIMULATED else [0, 1, 2, 64, 65, 1000]


@pytest.mark.parametrize("F", [BN254.fr, BLS12_381.fr], ids=name)
def test_sparse_product(F, many):
    rng = random.Random(4)
    rows = [
        [(rng.randrange(many), rng.randrange(F.modulus)) for _ in range(rng.choice(LENGTHS))]
        for _ in range(many)
    ]
    x = [rng.randrange(F.modulus) for _ in range(many)]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    entries = [entry for row in rows for entry in row] or [(0, 0)]
    out = cuda.to_device(np.full((many, F.limbs), 7, np.uint64))
    arrays = [starts, np.array([column for column, _ in entries], np.uint32)]
    arrays += [to_montgomery_limbs(F, [value for _, value in entries]), to_montgomery_limbs(F, x)]
    multiply_rows(F, out, *map(cuda.to_device, [*arrays, long_rows(starts)]))
    expected = [sum(value * x[column] for column, value in row) % F.modulus for row in rows]
    assert from_montgomery_ints(F, out.copy_to_host()) == expected
