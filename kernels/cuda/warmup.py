"""Compiling the kernels of a device before they are needed, as `kernels.cpu.warmup` does its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from kernels.cuda import sparse, vectors
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import msm
from kernels.cuda.ntt import Domain
from kernels.cuda.quotient import quotient
from kernels.cuda.spmv import multiply_rows
from kernels.encoding import encode_points, ints_to_limbs
from kernels.fields import Curve, Group

ROWS = 8


def _sums(G: Group) -> None:
    points = np.tile(encode_points(G, [G.generator]), (sparse.LEAST, *[1] * len(G.point_shape)))
    scalars = np.tile(ints_to_limbs([1], 4), (sparse.LEAST, 1))
    scalars[0] = ints_to_limbs([G.order // 3], 4)  # one that is no bit, so that nothing is left out
    msm(G, cuda.to_device(points), cuda.to_device(scalars), Workspace())


def _transforms(curve: Curve) -> None:
    a, b, c = (cuda.to_device(ints_to_limbs([3] * ROWS, 4)) for _ in range(3))
    vectors.multiply(curve.fr, c, a, b)
    vectors.take(curve.fr, b, a, cuda.to_device(np.arange(ROWS, dtype=np.uint32)))
    quotient(Domain(curve.fr, ROWS.bit_length() - 1), a, b, c)


def _matrix_products(curve: Curve) -> None:
    x, out = (cuda.to_device(ints_to_limbs([3] * ROWS, 4)) for _ in range(2))
    starts = cuda.to_device(np.arange(ROWS + 1, dtype=np.int64))
    units, columns = (cuda.to_device(np.arange(ROWS, dtype=kind)) for kind in (np.int32, np.uint32))
    rows = cuda.to_device(np.zeros(1, np.int64))
    multiply_rows(curve.fr, out, (starts, units), (starts, columns, x), x, rows)


Step = Callable[[Curve], Any]
STEPS: dict[str, Step] = {
    "sums in G2 on GPUs": lambda curve: _sums(curve.g2),
    "sums in G1 on GPUs": lambda curve: _sums(curve.g1),
    "transforms on GPUs": _transforms,
    "matrix products on GPUs": _matrix_products,
}
"""The longest first."""
