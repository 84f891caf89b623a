"""Sparse matrix times vector: how a witness becomes the evaluations a, b and c.

Most coefficients of circuits are 1 or −1, and a product with those is a sum. A matrix therefore comes in two
parts: `sum_units` adds up what has such coefficients, and `add_products` adds the rest to it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.cpu import lane_spmv, spmv64
from kernels.cpu.lane_tokens import lanes_of
from kernels.encoding import Limbs
from kernels.fields import Field


def sum_units(
    F: Field,
    out: Limbs,
    row_starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    x: Limbs,
    start: int,
    stop: int,
) -> None:
    """out[i] = Σ ±x, over row_starts[i] ≤ k < row_starts[i + 1], for rows [start, stop); zero for no terms.

    row_starts (rows + 1,) int64; x (n, L) in any form; columns (terms,) int32: j for x[j], and ~j = −1 − j
    for −x[j]. Columns are not checked against n.
    """
    row_starts, columns, x = _read_only(row_starts), _read_only(columns), _read_only(x)
    spmv64.sum_units(F, out, row_starts, columns, x, start, stop)


def add_products(
    F: Field,
    out: Limbs,
    row_starts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    coefficients: Limbs,
    x: Limbs,
    start: int,
    stop: int,
) -> None:
    """out[i] += Σ coefficients[k]·x[columns[k]], row_starts[i] ≤ k < row_starts[i + 1], rows [start, stop).

    row_starts (rows + 1,) int64; columns (nonzeros,) uint32; coefficients (nonzeros, L); x (n, L). Products
    are Montgomery products: of coefficients and x one is canonical and the other in Montgomery form, and sums
    are canonical. Columns are not checked against n.
    """
    lanes = lanes_of(F)
    row_starts, columns, coefficients = _read_only(row_starts), _read_only(columns), _read_only(coefficients)
    if lanes is None:
        spmv64.add_products(F, out, row_starts, columns, coefficients, _read_only(x), start, stop)
    else:
        lane_spmv.add_products(lanes, out, row_starts, columns, coefficients, _read_only(x), start, stop)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory; numba would compile a kernel twice, for mapped arrays and for writable ones."""
    view = array.view()
    view.flags.writeable = False
    return view
