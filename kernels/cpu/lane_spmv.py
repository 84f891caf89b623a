"""The kernel of `kernels.cpu.spmv` with eight products at once.

Rows are short, so the lanes are neighbouring nonzeros, of whatever rows; sums are made one after the other.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import field as f
from kernels.cpu import lanes
from kernels.cpu.spmv64 import PREFETCH_DISTANCE

BLOCK = 64  # nonzeros that are multiplied, then added up


@njit(cache=True, nogil=True)
def multiply_rows(
    F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any, start: int, stop: int
) -> None:
    """As `kernels.cpu.spmv.multiply_rows`; F is a `LaneField`."""
    field, row, last = F.field, start, row_starts[stop]
    total, products = f.zero(field), np.empty((BLOCK, out.shape[1]), np.uint64)
    for first in range(row_starts[start], last, BLOCK):
        count = min(BLOCK, last - first)
        _multiply_block(F, products, columns, coefficients, x, first, count)
        for i in range(count):
            while first + i == row_starts[row + 1]:
                f.store(field, out, row, total)
                total = f.zero(field)
                row += 1
            total = f.add(field, total, f.load(field, products, i))
    while row < stop:
        f.store(field, out, row, total)
        total = f.zero(field)
        row += 1


@njit(cache=True, nogil=True)
def _multiply_block(
    F: Any, products: Any, columns: Any, coefficients: Any, x: Any, first: int, count: int
) -> None:
    """products[i] = coefficients[first + i]·x[columns[first + i]] for i < count."""
    field, groups = F.field, count // 8 * 8
    for i in range(0, groups, 8):
        for k in range(first + i, first + i + 8):
            f.prefetch(field, x, columns[min(k + PREFETCH_DISTANCE, columns.shape[0] - 1)])
        value = lanes.gather_rows(F, x, columns, first + i)
        product = lanes.mul(F, lanes.load_rows_shifted(F, coefficients, first + i, 1), value)
        lanes.store_rows(F, products, i, 1, lanes.subtract_once(F, product))
    for i in range(groups, count):
        product = f.mul(field, f.load(field, coefficients, first + i), f.load(field, x, columns[first + i]))
        f.store(field, products, i, product)
