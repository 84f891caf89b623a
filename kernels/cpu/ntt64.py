"""The kernels of `kernels.cpu.ntt` in 64-bit limbs, one element after the other."""

from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import field as f
from kernels.cpu import vectors
from kernels.encoding import Limbs, to_montgomery_limbs
from kernels.fields import Field
from kernels.meter import holding_bytes
from kernels.parallel import Run, run_chunks

PASS_LEVELS = 7  # 2^7 rows of 8 columns of 32 bytes: 32 KiB
PASS_COLUMNS = 8


class Transform:
    """Splits and joins of 2^log2_size elements (`kernels.cpu.ntt`)."""

    def __init__(self, F: Field, log2_size: int) -> None:
        self.field, self.log2_size, self.size = F, log2_size, 1 << log2_size
        self.roots = bit_reversed_roots(F, log2_size)

    def split(self, a: Limbs, run: Run) -> None:
        """Natural order in, bit-reversed out: a[rev(k)] = Σ a[i]·w^(i·k)."""
        self._split(a, False, run)

    def inverse_split(self, a: Limbs, run: Run) -> None:
        """Natural order in, bit-reversed out: a[rev(k)] = Σ a[i]·w^(−i·k)/size."""
        self._split(a, True, run)
        factor = to_montgomery_limbs(self.field, [pow(self.size, -1, self.field.modulus)])
        run_chunks(run, vectors.scale, self.size, self.field, a, a, factor)

    def _split(self, a: Limbs, inverse: bool, run: Run) -> None:
        for shape in self._passes():
            self._run_tiles(run, _split_tiles, shape, a, self.roots, shape, inverse)

    def to_odd_coset(self, a: Limbs, shift: int, factor: int, run: Run) -> None:
        """As `ntt.Domain.to_odd_coset`; shift is the number v, v² = w."""
        factor *= pow(self.size, -1, self.field.modulus)
        factors = to_montgomery_limbs(self.field, [factor, shift * factor])
        self._split(a, True, run)  # the coefficients, bit-reversed and times size
        run_chunks(run, _shift_to_odd_coset, self.size, self.field, a, self.roots, factors)
        for shape in reversed(self._passes()):  # bit-reversed in, natural order out
            self._run_tiles(run, _join_tiles, shape, a, self.roots, shape)

    def _passes(self) -> list[tuple[int, int, int, int]]:
        """(log2_size, first level, number of levels, columns worked on together) of each pass."""
        count = -(-self.log2_size // PASS_LEVELS)
        starts = [self.log2_size * i // max(1, count) for i in range(count + 1)]
        return [
            (self.log2_size, level, after - level, min(PASS_COLUMNS, self.size >> after))
            for level, after in pairwise(starts)
        ]

    def _run_tiles(self, run: Run, kernel: Any, shape: tuple[int, int, int, int], *arguments: Any) -> None:
        _, _, levels, columns = shape

        def tiles(*chunk: Any) -> None:
            with holding_bytes((columns << levels) * self.field.limbs * 8):  # the kernel's buffer
                kernel(*chunk)

        count = self.size // (columns << levels)
        run_chunks(run, tiles, count, self.field, *arguments, minimum=1)


def bit_reversed_roots(F: Field, log2_size: int) -> Limbs:
    """(size/2, L): entry b is w^rev(b). Entry 2^k + q is entry q times the root of order 2^(k + 2)."""
    table = np.empty((max(1, 1 << log2_size >> 1), F.limbs), np.uint64)
    table[:1] = to_montgomery_limbs(F, [1])
    for k in range(log2_size - 1):
        root = to_montgomery_limbs(F, [F.root_of_order(k + 2)])
        vectors.scale(F, table[1 << k : 2 << k], table[: 1 << k], root, 0, 1 << k)
    return table


@njit(cache=True, nogil=True)
def _split_tiles(F: Any, a: Any, roots: Any, shape: Any, inverse: bool, start: int, stop: int) -> None:
    """One pass of `Transform.split` on the tiles [start, stop); shape as in `Transform._passes`.

    Level l has 2^l blocks. A tile is the elements of one block that meet in the pass's levels: 2^levels rows,
    `stride` apart, of `columns` neighbours.
    """
    log2_size, level, levels, columns = shape
    stride = 1 << (log2_size - level - levels)
    buffer = np.empty((columns << levels, a.shape[1]), np.uint64)
    for tile in range(start, stop):
        block, column = divmod(tile * columns, stride)
        first = (block << (log2_size - level)) + column
        _gather(F, buffer, a, first, stride, columns)
        for step in range(levels):
            _split_level(F, buffer, roots, block << step, columns << (levels - 1 - step), inverse)
        _scatter(F, a, buffer, first, stride, columns)


@njit(cache=True, nogil=True)
def _join_tiles(F: Any, a: Any, roots: Any, shape: Any, start: int, stop: int) -> None:
    """The pass on the tiles of `_split_tiles` that goes back, but with roots in place of their inverses."""
    log2_size, level, levels, columns = shape
    stride = 1 << (log2_size - level - levels)
    buffer = np.empty((columns << levels, a.shape[1]), np.uint64)
    for tile in range(start, stop):
        block, column = divmod(tile * columns, stride)
        first = (block << (log2_size - level)) + column
        _gather(F, buffer, a, first, stride, columns)
        for step in range(levels - 1, -1, -1):
            _join_level(F, buffer, roots, block << step, columns << (levels - 1 - step))
        _scatter(F, a, buffer, first, stride, columns)


@njit(cache=True, nogil=True)
def _split_level(F: Any, buffer: Any, roots: Any, block: int, half: int, inverse: bool) -> None:
    """(u, v) -> (u + root·v, u − root·v) for the halves of each block; the first is number `block`."""
    for low in range(0, buffer.shape[0], 2 * half):
        if block == 0:  # its root is one
            for i in range(low, low + half):
                u, v = f.load(F, buffer, i), f.load(F, buffer, i + half)
                f.store(F, buffer, i, f.add(F, u, v))
                f.store(F, buffer, i + half, f.sub(F, u, v))
        else:
            root = _inverse_root(F, roots, block) if inverse else f.load(F, roots, block)
            for i in range(low, low + half):
                u, v = f.load(F, buffer, i), f.mul(F, root, f.load(F, buffer, i + half))
                f.store(F, buffer, i, f.add(F, u, v))
                f.store(F, buffer, i + half, f.sub(F, u, v))
        block += 1


@njit(cache=True, nogil=True)
def _join_level(F: Any, buffer: Any, roots: Any, block: int, half: int) -> None:
    """(u, v) -> (u + v, root·(u − v)) for the halves of each block; the first is number `block`."""
    for low in range(0, buffer.shape[0], 2 * half):
        root = f.load(F, roots, block)
        for i in range(low, low + half):
            u, v = f.load(F, buffer, i), f.load(F, buffer, i + half)
            difference = f.sub(F, u, v)
            f.store(F, buffer, i, f.add(F, u, v))
            f.store(F, buffer, i + half, f.mul(F, root, difference) if block else difference)
        block += 1


@njit(cache=True, nogil=True)
def _gather(F: Any, buffer: Any, a: Any, first: int, stride: int, columns: int) -> None:
    for row in range(buffer.shape[0] // columns):
        for column in range(columns):
            f.store(F, buffer, row * columns + column, f.load(F, a, first + row * stride + column))


@njit(cache=True, nogil=True)
def _scatter(F: Any, a: Any, buffer: Any, first: int, stride: int, columns: int) -> None:
    for row in range(buffer.shape[0] // columns):
        for column in range(columns):
            f.store(F, a, first + row * stride + column, f.load(F, buffer, row * columns + column))


@njit(cache=True, nogil=True)
def _inverse_root(F: Any, roots: Any, index: int) -> Any:
    """1/roots[index], index > 0: entries 2^k to 2^(k+1) are the odd powers of a root of order 2^(k+2), in an
    order in which an entry's mirror image is its inverse times −1.
    """
    top = 1
    while 2 * top <= index:
        top *= 2
    return f.neg(F, f.load(F, roots, 3 * top - 1 - index))


@njit(cache=True, nogil=True)
def _shift_to_odd_coset(F: Any, a: Any, roots: Any, factors: Any, start: int, stop: int) -> None:
    """a[rev(i)] *= v^i/size, v² = w: v^i is roots[rev(i)] for even i; odd i has it times v, from half on."""
    half = roots.shape[0]
    for i in range(start, stop):
        factor = f.mul(F, f.load(F, factors, i // half), f.load(F, roots, i % half))
        f.store(F, a, i, f.mul(F, factor, f.load(F, a, i)))
