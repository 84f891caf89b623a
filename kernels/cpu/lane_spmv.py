"""The products of `kernels.cpu.spmv`, eight at once.

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
def add_products(
    F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any, start: int, stop: int
) -> None:
    """As `kernels.cpu.spmv.add_products`; F is a `LaneField`."""
    row, last = start, row_starts[stop]
    products = np.empty((BLOCK, out.shape[1]), np.uint64)
    for first in range(row_starts[start], last, BLOCK):
        count = min(BLOCK, last - first)
        _multiply_block(F, products, columns, coefficients, x, first, count)
        done = 0
        while done < count:
            end = min(row_starts[row + 1] - first, count)
            _add_up(F.field, out, row, products, done, end)
            if end < count:
                row += 1
            done = end


@njit(cache=True, nogil=True)
def _add_up(F: Any, out: Any, row: int, products: Any, start: int, stop: int) -> None:
    if start < stop:
        total = f.load(F, out, row)
        for i in range(start, stop):
            total = f.add(F, total, f.load(F, products, i))
        f.store(F, out, row, total)


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
