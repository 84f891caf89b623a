"""Sparse matrix times vector on a device: how a witness becomes the evaluations a and b."""

from typing import Any

import numpy as np
from numba import cuda, uint64
from numpy.typing import NDArray

from kernels.cuda import field as f
from kernels.cuda.launch import SIMULATED, device, kernel, launch, launch_blocks

LONG_ROW = 4 if SIMULATED else 64  # nonzeros: a block of threads takes a longer row
BLOCK_THREADS = 4 if SIMULATED else 128
BLOCK_LIMBS = 4 * BLOCK_THREADS


@device
def _sum_products(F: Any, columns: Any, coefficients: Any, x: Any, start: int, stop: int, step: int) -> Any:
    total = f.zero(F)
    for k in range(start, stop, step):
        total = f.add(F, total, f.mul(F, f.load(F, coefficients, k), f.load(F, x, columns[k])))
    return total


@kernel
def _multiply_short_rows(F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any) -> None:
    row = cuda.grid(1)
    if row < out.shape[0]:
        start, stop = row_starts[row], row_starts[row + 1]
        if stop - start <= LONG_ROW:
            f.store(F, out, row, _sum_products(F, columns, coefficients, x, start, stop, 1))


@kernel
def _multiply_long_rows(
    F: Any, out: Any, rows: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any
) -> None:
    sums = cuda.shared.array(BLOCK_LIMBS, uint64)
    row, thread = rows[cuda.blockIdx.x], cuda.threadIdx.x
    start, stop = row_starts[row] + thread, row_starts[row + 1]
    total = _sum_products(F, columns, coefficients, x, start, stop, BLOCK_THREADS)
    f.store_plane(F, sums, thread, BLOCK_THREADS, total)
    left = BLOCK_THREADS // 2
    while left > 0:
        cuda.syncthreads()
        if thread < left:
            total = f.add(F, total, f.load_plane(F, sums, thread + left, BLOCK_THREADS))
            f.store_plane(F, sums, thread, BLOCK_THREADS, total)
        left //= 2
    if thread == 0:
        f.store(F, out, row, total)


def long_rows(row_starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of a matrix's long rows, in host memory as their argument."""
    return np.flatnonzero(np.diff(row_starts) > LONG_ROW)


def multiply_rows(
    F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any, rows: Any
) -> None:
    """out[i] = Σ coefficients[k]·x[columns[k]], row_starts[i] ≤ k < row_starts[i + 1], for every row.

    Arrays as for `kernels.cpu.spmv.multiply_rows`, in device memory; rows: `long_rows`, there too.
    """
    launch(_multiply_short_rows, out.shape[0], F, out, row_starts, columns, coefficients, x)
    if len(rows):
        arguments = F, out, rows, row_starts, columns, coefficients, x
        launch_blocks(_multiply_long_rows, len(rows), BLOCK_THREADS, *arguments)
