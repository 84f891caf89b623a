"""The kernels of `kernels.cpu.spmv` in 64-bit limbs, one element after the other."""

from typing import Any

from numba import njit

from kernels.cpu import field as f

PREFETCH_DISTANCE = 12  # nonzeros ahead: their products take as long as a fetch from memory


@njit(cache=True, nogil=True)
def sum_units(F: Any, out: Any, row_starts: Any, columns: Any, x: Any, start: int, stop: int) -> None:
    """As `kernels.cpu.spmv.sum_units`."""
    last = row_starts[stop] - 1
    for row in range(start, stop):
        total = f.zero(F)
        for k in range(row_starts[row], row_starts[row + 1]):
            ahead = columns[k + PREFETCH_DISTANCE if k + PREFETCH_DISTANCE < last else last]
            f.prefetch(F, x, ahead if ahead >= 0 else ~ahead)
            column = columns[k]
            if column < 0:
                total = f.sub(F, total, f.load(F, x, ~column))
            else:
                total = f.add(F, total, f.load(F, x, column))
        f.store(F, out, row, total)


@njit(cache=True, nogil=True)
def add_products(
    F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any, start: int, stop: int
) -> None:
    """As `kernels.cpu.spmv.add_products`."""
    last = row_starts[stop] - 1
    for row in range(start, stop):
        total = f.load(F, out, row)
        for k in range(row_starts[row], row_starts[row + 1]):
            f.prefetch(F, x, columns[k + PREFETCH_DISTANCE if k + PREFETCH_DISTANCE < last else last])
            total = f.add(F, total, f.mul(F, f.load(F, coefficients, k), f.load(F, x, columns[k])))
        f.store(F, out, row, total)
