"""Sparse matrix times vector: how a witness becomes the evaluations a, b and c."""

from typing import Any

from numba import njit

from kernels.cpu import field as f

PREFETCH_DISTANCE = 12  # nonzeros ahead: their products take as long as a fetch from memory


@njit(cache=True, nogil=True)
def multiply_rows(
    F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any, start: int, stop: int
) -> None:
    """out[i] = Σ coefficients[k]·x[columns[k]], row_starts[i] ≤ k < row_starts[i + 1], rows [start, stop).

    row_starts (rows + 1,) int64; columns (nonzeros,) uint32; coefficients (nonzeros, L); x (n, L). Products
    are Montgomery products: coefficients times R², as in a `.zkey`, and canonical x give an output in
    Montgomery form; coefficients in Montgomery form give a canonical one. Columns are not checked against n.
    An empty row gives zero.
    """
    last = row_starts[stop] - 1
    for row in range(start, stop):
        total = f.zero(F)
        for k in range(row_starts[row], row_starts[row + 1]):
            f.prefetch(F, x, columns[min(k + PREFETCH_DISTANCE, last)])
            total = f.add(F, total, f.mul(F, f.load(F, coefficients, k), f.load(F, x, columns[k])))
        f.store(F, out, row, total)
