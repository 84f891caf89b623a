"""The kernels of `kernels.cpu.ntt` on eight elements at once.

A tile of a pass is eight columns side by side: eight neighbours in memory while rows lie eight or more
apart, and in the last pass, whose rows are neighbours, those of eight neighbouring blocks. Either way every
step works on whole vectors. Roots are in Montgomery form with R; elements stay in the form that they are in.

Elements are below 2·p between passes. A split adds less than 2·p to each of its outputs, at most 16·p after
seven levels. A join's sums double: they are reduced after four levels. Either way no product's operand
exceeds 32·p, which is below R, and limbs are carried only to be multiplied or reduced (`kernels.cpu.lanes`).
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import lanes, vectors
from kernels.cpu.lanes import LANES, LaneField
from kernels.cpu.ntt64 import bit_reversed_roots
from kernels.encoding import Limbs, ints_to_limbs, to_montgomery_limbs
from kernels.fields import Field
from kernels.meter import holding
from kernels.parallel import Run, run_chunks

PASS_LEVELS = 7  # 2^7 rows of 320 bytes: 40 KiB; more levels would exceed the bounds above
LEAST_LEVELS = 3  # of the last pass, so that its rows lie eight apart in the others, and of those before it
LEAST_LOG2_SIZE = 2 * LEAST_LEVELS
REDUCED_LEVEL = 3  # counted from the first join of a pass, whose sums are below 4·p


class Transform:
    """Splits and joins of 2^log2_size elements (`kernels.cpu.ntt`), log2_size at least LEAST_LOG2_SIZE.

    roots: (size/2 + 1, L), as of `ntt64.Transform` but in Montgomery form with R, and −1.
    """

    def __init__(self, F: LaneField, field: Field, log2_size: int) -> None:
        self.lanes, self.field, self.log2_size, self.size = F, field, log2_size, 1 << log2_size
        self.roots = np.empty((self.size // 2 + 1, field.limbs), np.uint64)
        self.roots[:-1] = bit_reversed_roots(field, log2_size)
        self.roots[-1:] = to_montgomery_limbs(field, [-1])
        change = to_montgomery_limbs(field, [1 << F.shift])
        vectors.scale(field, self.roots, self.roots, change, 0, len(self.roots))

    def split(self, a: Limbs, run: Run) -> None:
        """Natural order in, bit-reversed out: a[rev(k)] = Σ a[i]·w^(i·k)."""
        self._split(a, self._factors(), False, run)

    def inverse_split(self, a: Limbs, run: Run) -> None:
        """Natural order in, bit-reversed out: a[rev(k)] = Σ a[i]·w^(−i·k)/size."""
        self._split(a, self._factors(pow(self.size, -1, self.field.modulus)), True, run)

    def to_odd_coset(self, a: Limbs, shift: int, factor: int, run: Run) -> None:
        """As `ntt.Domain.to_odd_coset`; shift is the number v, v² = w.

        Between split and join, element rev(i) is coefficient i times size and becomes that times v^i/size and
        the factor: v^i is roots[rev(i)] for even i, whose rev(i) is in the first half; odd i have it times v.
        """
        factor *= pow(self.size, -1, self.field.modulus)
        self._split(a, self._factors(factor, shift * factor), True, run)
        for shape in reversed(self._passes()[:-1]):
            self._run_tiles(run, self._columns, shape, a, False, True)

    def _split(self, a: Limbs, factors: Limbs, inverse: bool, run: Run) -> None:
        *first, last = self._passes()
        for shape in first:
            self._run_tiles(run, self._columns, shape, a, inverse, False)
        self._run_tiles(run, self._blocks, last, a, factors, inverse)

    def _factors(self, *numbers: int) -> Limbs:
        """In Montgomery form with R."""
        one, p = self.lanes.montgomery_one, self.field.modulus
        return ints_to_limbs([number * one % p for number in numbers], self.field.limbs)

    def _passes(self) -> list[tuple[int, int, int]]:
        """(log2_size, first level, number of levels) of each pass, two at least."""
        count = max(2, -(-self.log2_size // PASS_LEVELS))
        starts = [-(-self.log2_size * i // count) for i in range(count + 1)]  # the last pass has the fewest
        return [(self.log2_size, level, after - level) for level, after in pairwise(starts)]

    def _run_tiles(self, run: Run, kernel: Any, shape: tuple[int, int, int], *arguments: Any) -> None:
        run_chunks(run, kernel, self.size // (LANES << shape[-1]), shape, *arguments, minimum=1)

    def _columns(self, shape: tuple[int, int, int], a: Limbs, *arguments: Any) -> None:
        buffer = lanes.empty(self.lanes, 1 << shape[-1])
        with holding(buffer):
            column_tiles(self.lanes, a, self.roots, buffer, shape, *arguments)

    def _blocks(self, shape: tuple[int, int, int], a: Limbs, factors: Limbs, *arguments: Any) -> None:
        buffer = lanes.empty(self.lanes, 1 << shape[-1])
        with holding(buffer):
            block_tiles(self.lanes, a, self.roots, factors, buffer, shape, *arguments)


@njit(cache=True, nogil=True)
def column_tiles(
    F: Any, a: Any, roots: Any, buffer: Any, shape: Any, inverse: bool, join: bool, start: int, stop: int
) -> None:
    """One pass on tiles [start, stop) of eight neighbouring columns; shape as in `Transform._passes`."""
    log2_size, level, levels = shape
    stride, same = 1 << (log2_size - level - levels), int(np.int64(0))  # a literal would be compiled apart
    indices = np.empty(8, np.int64)
    for tile in range(start, stop):
        block, column = divmod(tile * 8, stride)
        first = (block << (log2_size - level)) + column
        for row in range(1 << levels):
            lanes.store(F, buffer, row, lanes.load_rows(F, a, first + row * stride, 1))
        if join:
            for step in range(levels - 1, -1, -1):
                reduced = levels - 1 - step == REDUCED_LEVEL
                _join_level(F, buffer, roots, block << step, same, 1 << (levels - 1 - step), reduced)
        else:
            for step in range(levels):
                _split_level(
                    F, buffer, roots, indices, block << step, same, 1 << (levels - 1 - step), inverse
                )
        for row in range(1 << levels):
            value = lanes.reduce(F, lanes.carry(F, lanes.load(F, buffer, row)))
            if join and level == 0:
                value = lanes.subtract_once(F, value)
            lanes.store_rows(F, a, first + row * stride, 1, value)


@njit(cache=True, nogil=True)
def block_tiles(
    F: Any, a: Any, roots: Any, factors: Any, buffer: Any, shape: Any, inverse: bool, start: int, stop: int
) -> None:
    """The last pass of a split on tiles [start, stop) of eight neighbouring blocks.

    With two factors the values are scaled by them as `Transform.to_odd_coset` says, and the pass is joined
    again; with one they are scaled by that, and with none or one they are stored fully reduced.
    """
    levels = shape[2]
    rows, scaled, twisted = 1 << levels, factors.shape[0] == 1, factors.shape[0] == 2
    indices = np.empty(8, np.int64)
    for tile in range(start, stop):
        block = tile * 8
        first = block << levels
        for row in range(rows):
            lanes.store(F, buffer, row, lanes.load_rows(F, a, first + row, rows))
        for step in range(levels):
            _split_level(F, buffer, roots, indices, block << step, 1 << step, rows >> (step + 1), inverse)
        if twisted:
            _twist(F, buffer, roots, factors, indices, first)
            for step in range(levels - 1, -1, -1):
                reduced = levels - 1 - step == REDUCED_LEVEL
                _join_level(F, buffer, roots, block << step, 1 << step, rows >> (step + 1), reduced)
        for row in range(rows):
            value = lanes.carry(F, lanes.load(F, buffer, row))
            if scaled:
                value = lanes.mul(F, value, lanes.broadcast_row(F, factors, 0))
            else:
                value = lanes.reduce(F, value)
            if not twisted:
                value = lanes.subtract_once(F, value)
            lanes.store_rows(F, a, first + row, rows, value)


@njit(cache=True, nogil=True)
def _split_level(
    F: Any, buffer: Any, roots: Any, indices: Any, block: int, lane_step: int, half: int, inverse: bool
) -> None:
    """(u, v) -> (u + root·v, u − root·v) for the halves of each block in the buffer.

    Lane l of the first block is number block + l·lane_step.
    """
    for low in range(0, buffer.shape[0], 2 * half):
        if block == 0 and lane_step == 0:  # its root is one
            for i in range(low, low + half):
                u, v = lanes.load(F, buffer, i), lanes.load(F, buffer, i + half)
                v = lanes.reduce(F, lanes.carry(F, v))
                lanes.store(F, buffer, i, lanes.add_raw(F, u, v))
                lanes.store(F, buffer, i + half, lanes.sub_raw(F, u, v, 2))
        else:
            if inverse:
                root = _inverse_root(F, roots, indices, block, lane_step)
            else:
                root = _root(F, roots, block, lane_step)
            for i in range(low, low + half):
                u, v = lanes.load(F, buffer, i), lanes.carry(F, lanes.load(F, buffer, i + half))
                v = lanes.mul_raw(F, v, root)
                lanes.store(F, buffer, i, lanes.add_raw(F, u, v))
                lanes.store(F, buffer, i + half, lanes.sub_raw(F, u, v, 2))
        block += 1


@njit(cache=True, nogil=True)
def _join_level(
    F: Any, buffer: Any, roots: Any, block: int, lane_step: int, half: int, reduced: bool
) -> None:
    """(u, v) -> (u + v, root·(u − v)) for the halves of each block; the sums below 2·p if `reduced`."""
    for low in range(0, buffer.shape[0], 2 * half):
        root = _root(F, roots, block, lane_step)
        for i in range(low, low + half):
            u, v = lanes.load(F, buffer, i), lanes.load(F, buffer, i + half)
            difference = lanes.carry(F, lanes.sub_raw(F, u, v, 16))
            total = lanes.add_raw(F, u, v)
            if reduced:
                total = lanes.reduce(F, lanes.carry(F, total))
            lanes.store(F, buffer, i, total)
            if block == 0 and lane_step == 0:
                lanes.store(F, buffer, i + half, lanes.reduce(F, difference))
            else:
                lanes.store(F, buffer, i + half, lanes.mul_raw(F, difference, root))
        block += 1


@njit(cache=True, nogil=True)
def _root(F: Any, roots: Any, block: int, lane_step: int) -> Any:
    """The roots of blocks block + l·lane_step."""
    if lane_step == 0:
        return lanes.broadcast_row(F, roots, block)
    return lanes.load_rows(F, roots, block, lane_step)


@njit(cache=True, nogil=True)
def _inverse_root(F: Any, roots: Any, indices: Any, block: int, lane_step: int) -> Any:
    """Their inverses, as minus the mirror images. The first root's inverse is 1; −1 is the last entry."""
    if block >= 8 * lane_step and block > 0:
        mirrored = _mirror(block)  # all lanes have the same range: its images go down
        return lanes.neg(F, _root(F, roots, mirrored, -lane_step), 1)
    for lane in range(8):
        index = block + lane * lane_step
        indices[lane] = _mirror(index) if index else roots.shape[0] - 1
    return lanes.neg(F, lanes.gather_rows(F, roots, indices, 0), 1)


@njit(cache=True, nogil=True)
def _mirror(index: int) -> int:
    """Entries 2^k to 2^(k+1) of the roots are the odd powers of a root of order 2^(k+2), in an order in which
    an entry's mirror image is its inverse times −1.
    """
    below = index
    for shift in (1, 2, 4, 8, 16):
        below |= below >> shift  # at last 2^(k+1) − 1
    return 3 * ((below + 1) >> 1) - 1 - index


@njit(cache=True, nogil=True)
def _twist(F: Any, buffer: Any, roots: Any, factors: Any, indices: Any, first: int) -> None:
    """Element j times factors[j // half]·roots[j % half]; row r of lane l is first + l·rows + r."""
    rows, half = buffer.shape[0], roots.shape[0] - 1
    for lane in range(8):
        indices[lane] = (first + lane * rows) // half
    factor = lanes.gather_rows(F, factors, indices, 0)
    for lane in range(8):
        indices[lane] = (first + lane * rows) % half
    for row in range(rows):
        root = lanes.mul(F, factor, lanes.gather_rows(F, roots, indices, 0))
        value = lanes.carry(F, lanes.load(F, buffer, row))
        lanes.store(F, buffer, row, lanes.mul_raw(F, value, root))
        for lane in range(8):
            indices[lane] += 1
