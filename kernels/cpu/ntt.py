"""Number-theoretic transforms: between a polynomial's coefficients and its values on a domain.

A domain of size n is the powers of snarkjs's primitive n-th root of unity w. Splitting x^2m − c² into
(x^m − c)(x^m + c) over and over turns coefficients in natural order into values in bit-reversed order, and
every block of a level needs one root only. Block b's root is w_n^rev(b), the same for every n, so one table
serves all levels (Harvey, "Faster arithmetic for number-theoretic transforms", 2014; Seiler, 2018/039).

The data is worked on in passes of some levels. A pass copies rows that lie far apart into a buffer that
fits the first cache, so memory is walked once for each pass and not once for each level.
"""

from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numba import njit

from kernels.cpu import field as f
from kernels.cpu import lane_ntt, ntt64
from kernels.cpu.lane_tokens import lanes_of
from kernels.encoding import Limbs
from kernels.fields import Field
from kernels.parallel import Run, run_chunks

TILE_BITS = 4  # of a bit reversal: 16 rows of 512 bytes


class Domain:
    """The 2^log2_size-th roots of unity of F, and transforms over them.

    Arrays are (size, L) uint64, C-contiguous, in Montgomery form and natural order; they are changed in
    place. A wrong array raises ValueError. `run` spreads the work (`kernels.parallel`).
    Holds a table of `table_bytes`: half as many elements, and one.
    """

    def __init__(self, F: Field, log2_size: int) -> None:
        """Raises ValueError for a size beyond the field's 2-adicity."""
        F.root_of_order(log2_size)
        self.field = F
        self.log2_size = log2_size
        self.size = 1 << log2_size
        lanes = lanes_of(F)
        if lanes is None or log2_size < lane_ntt.LEAST_LOG2_SIZE:
            self._transform: ntt64.Transform | lane_ntt.Transform = ntt64.Transform(F, log2_size)
        else:
            self._transform = lane_ntt.Transform(lanes, F, log2_size)

    @property
    def table_bytes(self) -> int:
        return int(self._transform.roots.nbytes)

    def forward(self, a: Limbs, run: Run) -> None:
        """Coefficients -> values: a[k] = Σ a[i]·w^(i·k)."""
        self._check(a)
        self._transform.split(a, run)
        self._reverse_bits(a, run)

    def inverse(self, a: Limbs, run: Run) -> None:
        """Values -> coefficients: the inverse of `forward`."""
        self._check(a)
        self._transform.inverse_split(a, run)
        self._reverse_bits(a, run)

    def to_odd_coset(self, a: Limbs, run: Run, factor: int = 1) -> None:
        """Values at w^k -> values at v·w^k of the same polynomial, where v² = w is snarkjs's 2·size-th root.

        The values are multiplied by an integer factor on the way, at no cost. Raises ValueError where the
        field has no such root.
        """
        self._check(a)
        self._transform.to_odd_coset(a, self.field.root_of_order(self.log2_size + 1), factor, run)

    def _check(self, a: Limbs) -> None:
        shape = (self.size, self.field.limbs)
        if a.shape != shape or a.dtype != np.uint64 or not a.flags.c_contiguous or not a.flags.writeable:
            raise ValueError(
                f"expected a writable C-contiguous uint64 array {shape}, not {a.dtype} {a.shape}"
            )

    def _reverse_bits(self, a: Limbs, run: Run) -> None:
        if self.log2_size < 2 * TILE_BITS:
            _reverse_bits(self.field, a, self.log2_size)
        else:
            tiles = self.size >> 2 * TILE_BITS
            run_chunks(run, _reverse_bits_in_tiles, tiles, self.field, a, self.log2_size, minimum=1)


_domain_lock = Lock()
_domains: WeakValueDictionary[tuple[str, int], Domain] = WeakValueDictionary()


def domain_of(F: Field, log2_size: int) -> Domain:
    """The domain of this size, made once for all who hold it, also when many threads ask at once.

    Its table is gone with the last of them: whoever keeps a domain accounts for `table_bytes`.
    """
    with _domain_lock:
        domain = _domains.get((F.name, log2_size))
        if domain is None:
            domain = _domains[F.name, log2_size] = Domain(F, log2_size)
        return domain


@njit(cache=True, nogil=True)
def _reverse_bits(F: Any, a: Any, log2_size: int) -> None:
    """Swaps every a[i] with a[rev(i)]."""
    for i in range(1 << log2_size):
        reverse = _reversed(i, log2_size)
        if i < reverse:
            value = f.load(F, a, i)
            f.store(F, a, i, f.load(F, a, reverse))
            f.store(F, a, reverse, value)


@njit(cache=True, nogil=True)
def _reverse_bits_in_tiles(F: Any, a: Any, log2_size: int, start: int, stop: int) -> None:
    """The same for the tiles with a number in [start, stop) and those that they change places with.

    A tile is the elements whose indices share their middle bits, its number; TILE_BITS on either side of them
    give row and column. Rows are neighbours in memory. Its elements go to the tile of the reversed number.
    """
    side, stride = 1 << TILE_BITS, 1 << (log2_size - TILE_BITS)
    order = np.array([_reversed(i, TILE_BITS) for i in range(side)])
    buffer = np.empty((side * side, a.shape[1]), np.uint64)
    for tile in range(start, stop):
        other = _reversed(tile, log2_size - 2 * TILE_BITS)
        if tile > other:
            continue
        first, second = tile * side, other * side
        for row in range(side):
            for column in range(side):
                f.store(
                    F, buffer, order[column] * side + order[row], f.load(F, a, first + row * stride + column)
                )
        for row in range(side if tile < other else 0):
            for column in range(side):
                to = first + order[column] * stride + order[row]
                f.store(F, a, to, f.load(F, a, second + row * stride + column))
        for row in range(side):
            for column in range(side):
                f.store(F, a, second + row * stride + column, f.load(F, buffer, row * side + column))


@njit(cache=True, nogil=True)
def _reversed(index: int, bits: int) -> int:
    """The lowest `bits` bits in reverse."""
    reverse = 0
    for _ in range(bits):
        reverse = reverse << 1 | index & 1
        index >>= 1
    return reverse
