"""Sparse matrix times vector on a device: how a witness becomes the evaluations a and b."""

from typing import Any

from numba import cuda

from kernels.cuda import field as f
from kernels.cuda.launch import kernel, launch


@kernel
def _multiply_rows(F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any) -> None:
    row = cuda.grid(1)
    if row < out.shape[0]:
        total = f.zero(F)
        for k in range(row_starts[row], row_starts[row + 1]):
            total = f.add(F, total, f.mul(F, f.load(F, coefficients, k), f.load(F, x, columns[k])))
        f.store(F, out, row, total)


def multiply_rows(F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any) -> None:
    """out[i] = Σ coefficients[k]·x[columns[k]], row_starts[i] ≤ k < row_starts[i + 1], for every row.

    Arrays as for `kernels.cpu.spmv.multiply_rows`, in device memory. A thread takes a row.
    """
    launch(_multiply_rows, out.shape[0], F, out, row_starts, columns, coefficients, x)
