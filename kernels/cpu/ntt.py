"""Number-theoretic transforms: between a polynomial's coefficients and its values on a domain.

A domain of size n is the powers of snarkjs's primitive n-th root of unity w. Splitting x^2m − c² into
(x^m − c)(x^m + c) over and over turns coefficients in natural order into values in bit-reversed order, and
every block of a level needs one root only. Block b's root is w_n^rev(b), the same for every n, so one table
serves all levels (Harvey, "Faster arithmetic for number-theoretic transforms", 2014; Seiler, 2018/039).

The data is worked on in passes of some levels. A pass copies rows that lie far apart into a buffer that
fits the first cache, so memory is walked once for each pass and not once for each level.
"""

from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import field as f
from kernels.cpu import vectors
from kernels.encoding import Limbs, to_montgomery_limbs
from kernels.fields import Field
from kernels.parallel import Run, run_chunks

PASS_LEVELS = 7  # 2^7 rows of 8 columns of 32 bytes: 32 KiB
PASS_COLUMNS = 8


class Domain:
    """The 2^log2_size-th roots of unity of F, and transforms over them.

    Arrays are (size, L) uint64, C-contiguous, in Montgomery form and natural order; they are changed in
    place. A wrong array raises ValueError. `run` spreads the work (`kernels.parallel`).
    Holds a table of `table_bytes` = 8·L·size/2 bytes.
    """

    def __init__(self, F: Field, log2_size: int) -> None:
        """Raises ValueError for a size beyond the field's 2-adicity."""
        F.root_of_order(log2_size)
        self.field = F
        self.log2_size = log2_size
        self.size = 1 << log2_size
        self._roots = _bit_reversed_roots(F, log2_size)

    @property
    def table_bytes(self) -> int:
        return int(self._roots.nbytes)

    def forward(self, a: Limbs, run: Run) -> None:
        """Coefficients -> values: a[k] = Σ a[i]·w^(i·k)."""
        self._check(a)
        self._split(a, False, run)
        self._reverse_bits(a, run)

    def inverse(self, a: Limbs, run: Run) -> None:
        """Values -> coefficients: the inverse of `forward`."""
        self._check(a)
        self._split(a, True, run)
        self._reverse_bits(a, run)
        factor = to_montgomery_limbs(self.field, [pow(self.size, -1, self.field.modulus)])
        run_chunks(run, vectors.scale, self.size, self.field, a, a, factor)

    def to_odd_coset(self, a: Limbs, run: Run) -> None:
        """Values at w^k -> values at v·w^k of the same polynomial, where v² = w is snarkjs's 2·size-th root.

        Raises ValueError where the field has no such root.
        """
        self._check(a)
        shift = self.field.root_of_order(self.log2_size + 1)
        inverse_size = pow(self.size, -1, self.field.modulus)
        factors = to_montgomery_limbs(self.field, [inverse_size, shift * inverse_size])
        self._split(a, True, run)  # the coefficients, bit-reversed and times size
        run_chunks(run, _shift_to_odd_coset, self.size, self.field, a, self._roots, factors)
        self._join(a, run)

    def _check(self, a: Limbs) -> None:
        shape = (self.size, self.field.limbs)
        if a.shape != shape or a.dtype != np.uint64 or not a.flags.c_contiguous or not a.flags.writeable:
            raise ValueError(
                f"expected a writable C-contiguous uint64 array {shape}, not {a.dtype} {a.shape}"
            )

    def _passes(self) -> list[tuple[int, int, int, int]]:
        """(log2_size, first level, number of levels, columns worked on together) of each pass."""
        count = -(-self.log2_size // PASS_LEVELS)
        starts = [self.log2_size * i // max(1, count) for i in range(count + 1)]
        return [
            (self.log2_size, level, after - level, min(PASS_COLUMNS, self.size >> after))
            for level, after in pairwise(starts)
        ]

    def _split(self, a: Limbs, inverse: bool, run: Run) -> None:
        """Natural order in, bit-reversed out: a[rev(k)] = Σ a[i]·w^(±i·k)."""
        for shape in self._passes():
            self._run_tiles(run, _split_tiles, shape, a, self._roots, shape, inverse)

    def _join(self, a: Limbs, run: Run) -> None:
        """Bit-reversed in, natural order out: a[k] = Σ a[rev(i)]·w^(i·k)."""
        for shape in reversed(self._passes()):
            self._run_tiles(run, _join_tiles, shape, a, self._roots, shape)

    def _run_tiles(self, run: Run, kernel: Any, shape: tuple[int, int, int, int], *arguments: Any) -> None:
        _, _, levels, columns = shape
        tiles = self.size // (columns << levels)
        run_chunks(run, kernel, tiles, self.field, *arguments, minimum=1)

    def _reverse_bits(self, a: Limbs, run: Run) -> None:
        run_chunks(run, _reverse_bits, self.size, self.field, a, self.log2_size)


_domain_lock = Lock()


def domain_of(F: Field, log2_size: int) -> Domain:
    """The domain of this size; made once and kept, also when many threads ask at once."""
    with _domain_lock:
        return _cached_domain(F, log2_size)


@cache
def _cached_domain(F: Field, log2_size: int) -> Domain:
    return Domain(F, log2_size)


def _bit_reversed_roots(F: Field, log2_size: int) -> Limbs:
    """(size/2, L): entry b is w^rev(b). Entry 2^k + q is entry q times the root of order 2^(k + 2)."""
    table = np.empty((max(1, 1 << log2_size >> 1), F.limbs), np.uint64)
    table[:1] = to_montgomery_limbs(F, [1])
    for k in range(log2_size - 1):
        root = to_montgomery_limbs(F, [F.root_of_order(k + 2)])
        vectors.scale(F, table[1 << k : 2 << k], table[: 1 << k], root, 0, 1 << k)
    return table


@njit(cache=True, nogil=True)
def _split_tiles(F: Any, a: Any, roots: Any, shape: Any, inverse: bool, start: int, stop: int) -> None:
    """One pass of `Domain._split` on the tiles [start, stop); shape as in `Domain._passes`.

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
    """One pass of `Domain._join` on the tiles [start, stop), which are those of `_split_tiles`."""
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


@njit(cache=True, nogil=True)
def _reverse_bits(F: Any, a: Any, log2_size: int, start: int, stop: int) -> None:
    """Swaps a[i] with a[rev(i)] for the i in [start, stop) that are the smaller of the two."""
    for i in range(start, stop):
        rest, reverse = i, 0
        for _ in range(log2_size):
            reverse = reverse << 1 | rest & 1
            rest >>= 1
        if i < reverse:
            value = f.load(F, a, i)
            f.store(F, a, i, f.load(F, a, reverse))
            f.store(F, a, reverse, value)
