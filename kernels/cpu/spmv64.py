"""The kernel of `kernels.cpu.spmv` in 64-bit limbs, one product after the other."""

from typing import Any

from numba import njit

from kernels.cpu import field as f

PREFETCH_DISTANCE = 12  # nonzeros ahead: their products take as long as a fetch from memory


@njit(cache=True, nogil=True)
def multiply_rows(
    F: Any, out: Any, row_starts: Any, columns: Any, coefficients: Any, x: Any, start: int, stop: int
) -> None:
    """As `kernels.cpu.spmv.multiply_rows`."""
    last = row_starts[stop] - 1
    for row in range(start, stop):
        total = f.zero(F)
        for k in range(row_starts[row], row_starts[row + 1]):
            f.prefetch(F, x, columns[min(k + PREFETCH_DISTANCE, last)])
            total = f.add(F, total, f.mul(F, f.load(F, coefficients, k), f.load(F, x, columns[k])))
        f.store(F, out, row, total)
