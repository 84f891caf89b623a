"""Sparse matrix times vector: how a witness becomes the evaluations a, b and c."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.cpu import lane_spmv, spmv64
from kernels.cpu.lane_tokens import lanes_of
from kernels.encoding import Limbs
from kernels.fields import Field


def multiply_rows(
    F: Field,
    out: Limbs,
    row_starts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    coefficients: Limbs,
    x: Limbs,
    start: int,
    stop: int,
) -> None:
    """out[i] = Σ coefficients[k]·x[columns[k]], row_starts[i] ≤ k < row_starts[i + 1], rows [start, stop).

    row_starts (rows + 1,) int64; columns (nonzeros,) uint32; coefficients (nonzeros, L); x (n, L). Products
    are Montgomery products: coefficients times R², as in a `.zkey`, and canonical x give an output in
    Montgomery form; coefficients in Montgomery form give a canonical one. Columns are not checked against n.
    An empty row gives zero.
    """
    lanes = lanes_of(F)
    row_starts, columns, coefficients = _read_only(row_starts), _read_only(columns), _read_only(coefficients)
    if lanes is None:
        spmv64.multiply_rows(F, out, row_starts, columns, coefficients, x, start, stop)
    else:
        lane_spmv.multiply_rows(lanes, out, row_starts, columns, coefficients, x, start, stop)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory; numba would compile a kernel twice, for mapped arrays and for writable ones."""
    view = array.view()
    view.flags.writeable = False
    return view
