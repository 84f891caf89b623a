"""Sparse matrix times vector on a device: how a witness becomes the evaluations a and b.

A matrix comes in two parts, as for `kernels.cpu.spmv`: terms with coefficient 1 or −1, which need no product,
and all others.
"""

from typing import Any

import numpy as np
from numba import cuda, int64, uint64
from numpy.typing import NDArray

from kernels.cuda import field as f
from kernels.cuda.launch import SIMULATED, device, kernel, launch, launch_blocks

LONG_ROW = 4 if SIMULATED else 64  # terms: a block of threads takes a longer row
BLOCK_THREADS = 4 if SIMULATED else 128
BLOCK_LIMBS = 4 * BLOCK_THREADS


@device
def _sum_row(
    F: Any,
    unit_starts: Any,
    unit_columns: Any,
    starts: Any,
    columns: Any,
    coefficients: Any,
    x: Any,
    row: int,
    first: int,
    step: int,
) -> Any:
    """Of the row's terms of either part, every one that is `step` after the one before, from `first` on."""
    total = f.zero(F)
    for k in range(unit_starts[row] + first, unit_starts[row + 1], step):
        column = int64(unit_columns[k])
        if column < 0:
            total = f.sub(F, total, f.load(F, x, -1 - column))
        else:
            total = f.add(F, total, f.load(F, x, column))
    for k in range(starts[row] + first, starts[row + 1], step):
        total = f.add(F, total, f.mul(F, f.load(F, coefficients, k), f.load(F, x, int64(columns[k]))))
    return total


@kernel
def _multiply_short_rows(
    F: Any,
    out: Any,
    unit_starts: Any,
    unit_columns: Any,
    starts: Any,
    columns: Any,
    coefficients: Any,
    x: Any,
) -> None:
    row = cuda.grid(1)
    if row < out.shape[0]:
        terms = unit_starts[row + 1] - unit_starts[row] + starts[row + 1] - starts[row]
        if terms <= LONG_ROW:
            total = _sum_row(F, unit_starts, unit_columns, starts, columns, coefficients, x, row, 0, 1)
            f.store(F, out, row, total)


@kernel
def _multiply_long_rows(
    F: Any,
    out: Any,
    rows: Any,
    unit_starts: Any,
    unit_columns: Any,
    starts: Any,
    columns: Any,
    coefficients: Any,
    x: Any,
) -> None:
    sums = cuda.shared.array(BLOCK_LIMBS, uint64)
    row, thread = int64(rows[cuda.blockIdx.x]), int64(cuda.threadIdx.x)
    total = _sum_row(
        F, unit_starts, unit_columns, starts, columns, coefficients, x, row, thread, BLOCK_THREADS
    )
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


def long_rows(unit_starts: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of a matrix's long rows, in host memory as its arguments."""
    return np.flatnonzero(np.diff(unit_starts) + np.diff(starts) > LONG_ROW)


def multiply_rows(
    F: Any, out: Any, units: tuple[Any, Any], others: tuple[Any, Any, Any], x: Any, rows: Any
) -> None:
    """out[i] = Σ ±x[j] + Σ coefficients[k]·x[columns[k]] over the terms of row i, for every row of out.

    units: row starts and signed columns of the terms with coefficient 1 or −1; others: row starts, columns
    and coefficients of the rest; all as for `kernels.cpu.spmv`, in device memory. rows: `long_rows`, there
    too. Of coefficients and x one is canonical and the other in Montgomery form; out is canonical if x is.
    """
    launch(_multiply_short_rows, out.shape[0], F, out, *units, *others, x)
    if len(rows):
        launch_blocks(_multiply_long_rows, len(rows), BLOCK_THREADS, F, out, rows, *units, *others, x)
