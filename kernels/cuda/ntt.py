"""Number-theoretic transforms on a device, by the splitting of `kernels.cpu.ntt`.

The data is worked on in passes of up to PASS_LEVELS levels. A block of threads takes a tile: the elements
that meet in a pass's levels, for some neighbouring columns. A thread holds 8 elements and takes them through
three levels in registers, a round (`ntt_rounds`); between rounds the tile changes hands in shared memory.
"""

from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numba import cuda, int64, uint32, uint64

from kernels.cuda import field as f
from kernels.cuda import ntt_rounds as rounds
from kernels.cuda import vectors
from kernels.cuda.launch import SIMULATED, device, kernel, launch, launch_blocks
from kernels.encoding import to_montgomery_limbs
from kernels.fields import Field

ROUND_LEVELS = 3
PASS_LEVELS = 3 if SIMULATED else 9
TILE = 32 if SIMULATED else 1024  # elements, 8 for each thread; at least 2^PASS_LEVELS
TILE_LIMBS = 4 * TILE


@device
def _address(e: int, log2_columns: int, levels: int, level: int, log2_size: int) -> Any:
    """Where element e of this block's lies: columns side by side, then 2^levels rows, then further tiles."""
    log2_stride = log2_size - level - levels
    column = int64(e & ((1 << log2_columns) - 1))
    row = int64(e >> log2_columns & ((1 << levels) - 1))
    log2_tile = log2_columns + levels
    tile = (int64(cuda.blockIdx.x) * (8 * cuda.blockDim.x) + e) >> log2_tile
    first_column = tile << log2_columns
    block = first_column >> log2_stride
    first_column -= block << log2_stride
    return (block << (log2_size - level)) + (row << log2_stride) + first_column + column


@device
def _factor(F: Any, factors: Any, roots: Any, i: int, x: Any) -> Any:
    """x times what element i of bit-reversed coefficients is multiplied by: v^rev(i), v² = w, and 1/size.

    v^rev(i) is roots[i] in the lower half, where rev(i) is even, and v·roots[i − half] in the upper.
    """
    half = roots.shape[0]  # a power of two
    upper = int64(1) if i >= half else int64(0)
    return f.mul(F, x, f.mul(F, f.load(F, factors, upper), f.load(F, roots, i - upper * half)))


@kernel
def _pass(
    F: Any, a: Any, roots: Any, factors: Any, shape: Any, joins: bool, inverse: bool, shifts: bool
) -> None:
    """One pass over a tile. shape: log2_size, first level, levels, log2 of columns.

    joins: goes back from the last level to the first. inverse: splits by inverse roots. shifts: multiplies
    the results by `factors` (see `_factor`).
    """
    log2_size, level, levels, log2_columns = shape
    tile = cuda.shared.array(TILE_LIMBS, uint64)
    thread, n = int64(cuda.threadIdx.x), int64(8 * cuda.blockDim.x)
    count = (levels + ROUND_LEVELS - 1) // ROUND_LEVELS
    for k in range(count):
        done = ROUND_LEVELS * (count - 1 - k if joins else k)
        first = min(done, levels - ROUND_LEVELS)
        rows = levels - ROUND_LEVELS - first
        inner = int64(1) << (log2_columns + rows)
        own = (thread >> (log2_columns + rows) << (log2_columns + rows + ROUND_LEVELS)) + (
            thread & (inner - 1)
        )
        address = _address(own, log2_columns, levels, level, log2_size)
        step = int64(1) << (log2_size - level - levels + rows)
        block = address >> (log2_size - level - first)
        x = rounds.load(F, a, address, step) if k == 0 else rounds.take(F, tile, own, inner, n)
        if joins:
            x = rounds.join_round(F, x, roots, block, done - first)
        else:
            x = rounds.split_round(F, x, roots, block, done - first, inverse)
        if k < count - 1:
            rounds.put(F, tile, own, inner, n, x)
            cuda.syncthreads()
        else:
            if shifts:
                x = (
                    _factor(F, factors, roots, address, x[0]),
                    _factor(F, factors, roots, address + step, x[1]),
                    _factor(F, factors, roots, address + 2 * step, x[2]),
                    _factor(F, factors, roots, address + 3 * step, x[3]),
                    _factor(F, factors, roots, address + 4 * step, x[4]),
                    _factor(F, factors, roots, address + 5 * step, x[5]),
                    _factor(F, factors, roots, address + 6 * step, x[6]),
                    _factor(F, factors, roots, address + 7 * step, x[7]),
                )
            rounds.store(F, a, address, step, x)


@kernel
def _reverse_bits(F: Any, a: Any, log2_size: int) -> None:
    """Swaps every a[i] with a[rev(i)]."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        reverse = int64(cuda.brev(uint32(i)) >> (32 - log2_size))
        if i < reverse:
            value = f.load(F, a, i)
            f.store(F, a, i, f.load(F, a, reverse))
            f.store(F, a, reverse, value)


class Domain:
    """The 2^log2_size-th roots of unity of F on a device, and transforms over them.

    Arrays are device memory, (size, L) uint64, C-contiguous, in Montgomery form and natural order; they are
    changed in place. A wrong array raises ValueError. Holds a table of half as many elements.
    """

    def __init__(self, F: Field, log2_size: int) -> None:
        """Raises ValueError for a size beyond the field's 2-adicity, or below 8."""
        if log2_size < ROUND_LEVELS:
            raise ValueError(
                f"a device transforms at least {1 << ROUND_LEVELS} elements, not {1 << log2_size}"
            )
        F.root_of_order(log2_size)
        self.field, self.log2_size, self.size = F, log2_size, 1 << log2_size
        self.roots = bit_reversed_roots(F, log2_size)
        inverse_size = pow(self.size, -1, F.modulus)
        self._inverse_size = cuda.to_device(to_montgomery_limbs(F, [inverse_size]))

    def forward(self, a: Any) -> None:
        """Coefficients -> values: a[k] = Σ a[i]·w^(i·k)."""
        self._check(a)
        self.split(a)
        launch(_reverse_bits, self.size, self.field, a, self.log2_size)

    def inverse(self, a: Any) -> None:
        """Values -> coefficients: the inverse of `forward`."""
        self._check(a)
        self._run(a, inverse=True)
        vectors.scale(self.field, a, a, self._inverse_size)
        launch(_reverse_bits, self.size, self.field, a, self.log2_size)

    def split(self, a: Any) -> None:
        """`forward` with the values in bit-reversed order."""
        self._run(a)

    def to_odd_coset(self, a: Any) -> None:
        """Values at w^k -> values at v·w^k of the same polynomial, where v² = w is snarkjs's 2·size-th root.

        Raises ValueError where the field has no such root.
        """
        self._check(a)
        self._run(a, inverse=True, factors=self._shift)
        self._run(a, joins=True)

    @cached_property
    def _shift(self) -> Any:
        shift, inverse_size = (
            self.field.root_of_order(self.log2_size + 1),
            pow(self.size, -1, self.field.modulus),
        )
        return cuda.to_device(to_montgomery_limbs(self.field, [inverse_size, shift * inverse_size]))

    def _run(self, a: Any, joins: bool = False, inverse: bool = False, factors: Any = None) -> None:
        """All passes; the results are multiplied by the factors after the last."""
        shapes = pass_shapes(self.log2_size)
        tile = min(TILE, self.size)
        for k, shape in enumerate(reversed(shapes) if joins else shapes):
            shifts = factors is not None and k == len(shapes) - 1
            launch_blocks(
                _pass,
                self.size // tile,
                tile // 8,
                self.field,
                a,
                self.roots,
                self._inverse_size if factors is None else factors,
                shape,
                joins,
                inverse,
                shifts,
            )

    def _check(self, a: Any) -> None:
        if a.shape != (self.size, self.field.limbs) or a.dtype != np.uint64:
            raise ValueError(f"expected uint64 {(self.size, self.field.limbs)}, not {a.dtype} {a.shape}")


@cache
def pass_shapes(log2_size: int) -> tuple[tuple[int, int, int, int], ...]:
    """(log2_size, first level, levels, log2 of columns) of each pass: whole rounds, as few as can be.

    The first passes take more of them, since the last levels read the most roots. If a round lacks levels, it
    is one of the first pass, unless that has no other.
    """
    count = -(-log2_size // ROUND_LEVELS)
    passes = -(-log2_size // PASS_LEVELS)
    rounds = [-(-count * k // passes) for k in range(1, passes + 1)]
    lacking = ROUND_LEVELS * count - log2_size if rounds[0] > 1 else 0
    ends = [0, *(min(log2_size, ROUND_LEVELS * done - lacking) for done in rounds)]
    log2_tile = min(TILE, 1 << log2_size).bit_length() - 1
    return tuple(
        (log2_size, low, high - low, min(log2_tile - (high - low), log2_size - high))
        for low, high in pairwise(ends)
    )


def bit_reversed_roots(F: Field, log2_size: int) -> Any:
    """(size/2, L) on the device: entry b is w^rev(b).

    Entry 2^k + q is entry q times the root of order 2^(k + 2).
    """
    table = cuda.device_array((1 << log2_size >> 1, F.limbs), np.uint64)
    table[:1].copy_to_device(to_montgomery_limbs(F, [1]))
    for k in range(log2_size - 1):
        root = cuda.to_device(to_montgomery_limbs(F, [F.root_of_order(k + 2)]))
        vectors.scale(F, table[1 << k : 2 << k], table[: 1 << k], root)
    return table
