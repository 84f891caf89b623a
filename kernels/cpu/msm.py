"""Multi-scalar multiplication Σ scalar·point by Pippenger's bucket method with signed digits.

Scalars are cut into windows of c bits. A task takes one window and one range of points, adds each point to
the bucket of its digit, and sums the buckets weighted by their digits with running sums (Bernstein,
Doumen, Lange, Oosterwijk, "Faster batch forgery identification", 2012). Signed digits in
[−2^(c−1), 2^(c−1)) halve the buckets, as −P costs nothing. They come without a carry from window to window:
add 2^(c−1) to every window first, cut, and take it off each digit again.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.cpu.curve import add_affine_at, add_at, element_words, fold, read_only_bytes
from kernels.cpu.formulas import load_word
from kernels.encoding import Limbs, ints_to_limbs
from kernels.fields import Field, Group, QuadraticField
from kernels.parallel import Run, chunks, threads_of

SCALAR_LIMBS = 4
BIAS_LIMBS = 6  # a scalar plus the bias has at most 271 bits; one limb more to read past the last window
MOST_POINTS_A_TASK = 1 << 20  # about a second's work: a stop is noticed between tasks
FEWEST_POINTS_A_TASK = 1 << 10


@njit(cache=True, nogil=True)
def signed_digit(scalars: Any, i: int, bias: Any, window_bits: int, window: int) -> Any:
    """A digit of scalar i in [−2^(window_bits−1), 2^(window_bits−1)); the bias comes from `window_bias`."""
    limb, shift = window * window_bits >> 6, np.uint64(window * window_bits & 63)
    low, high, carry = np.uint64(0), np.uint64(0), np.uint64(0)
    for k in range(limb + 2):
        word = load_word(scalars, SCALAR_LIMBS * i + k) if k < SCALAR_LIMBS else np.uint64(0)
        low = high
        # The bias has one bit set in every two or more, so that adding the carry to its word never overflows.
        high = load_word(bias, k) + carry + word
        carry = np.uint64(high < word)
    # Two shifts, as one by 64 − 0 bits would be undefined.
    value = low >> shift | high << np.uint64(1) << (np.uint64(63) - shift)
    mask = (np.uint64(1) << np.uint64(window_bits)) - np.uint64(1)
    return np.int64(value & mask) - (np.int64(1) << np.int64(window_bits - 1))


@njit(cache=True, nogil=True)
def _add_window(
    F: Any, buckets: Any, points: Any, scalars: Any, bias: Any, bits: int, window: int, start: int, stop: int
) -> None:
    """Adds every point of [start, stop) to its bucket; then the last point of `buckets` is their sum.

    buckets: XYZZ points, all infinity, 2^(bits−1) of them for digits 1, 2, …, a running sum and the result.
    """
    for i in range(start, stop):
        digit = signed_digit(scalars, i, bias, bits, window)
        if digit > 0:
            add_affine_at(F, buckets, 4 * (digit - 1), points, 2 * i, False)
        elif digit < 0:
            add_affine_at(F, buckets, 4 * (-digit - 1), points, 2 * i, True)
    running = 1 << (bits - 1)
    for k in range(running):  # each bucket enters the result once for every step from its own down to digit 1
        add_at(F, buckets, 4 * running, buckets, 4 * (running - 1 - k))
        add_at(F, buckets, 4 * (running + 1), buckets, 4 * running)


def _window_sum(
    F: Field | QuadraticField, points: Any, scalars: Any, bias: Any, bits: int, *task: int
) -> Limbs:
    """Σ digit·point of one window and range of points as an XYZZ point (4, words)."""
    buckets: Limbs = np.zeros((4 * (1 << (bits - 1)) + 8, element_words(F)), np.uint64)
    window, start, stop = task
    _add_window(F, buckets, points, scalars, bias, bits, window, start, stop)
    return buckets[-4:].copy()


def window_count(order: int, window_bits: int) -> int:
    """The fewest windows that hold every scalar below `order` together with the bias."""
    count = order.bit_length() // window_bits
    while order - 1 + _bias(window_bits, count) >= 1 << window_bits * count:
        count += 1
    return count


def window_bias(window_bits: int, count: int) -> Limbs:
    """2^(window_bits−1) in each of `count` windows, for `signed_digit`: (BIAS_LIMBS,)."""
    return ints_to_limbs([_bias(window_bits, count)], BIAS_LIMBS).reshape(-1)


def _bias(window_bits: int, count: int) -> int:
    return sum(1 << (window_bits * (i + 1) - 1) for i in range(count))


def _best_window_bits(n: int) -> int:
    """Fewest products: 10 for each point's addition, 2·14 for each bucket of the sum."""
    return min(range(2, 17), key=lambda bits: -(-256 // bits) * (10 * n + 28 * (1 << (bits - 1))))


def check_scalars(scalars: Limbs, n: int) -> None:
    """Raises ValueError unless the array can be n canonical scalars."""
    if scalars.shape != (n, SCALAR_LIMBS) or scalars.dtype != np.uint64:
        raise ValueError(f"scalars are {scalars.dtype} {scalars.shape}, expected uint64 {(n, SCALAR_LIMBS)}")


def msm(G: Group, points: Limbs, scalars: Limbs, run: Run) -> Limbs:
    """Σ scalars[i]·points[i] as an affine point of G.point_shape; infinity for none.

    points: (n, *G.point_shape), Montgomery, all zeros for infinity; scalars: (n, 4) canonical, below the
    order. Either may be a read-only or unaligned memory map. Raises ValueError for other shapes.
    """
    n = len(points)
    if points.shape[1:] != G.point_shape or points.dtype != np.uint64:
        raise ValueError(f"points are {points.dtype} {points.shape}, expected uint64 (n, *{G.point_shape})")
    check_scalars(scalars, n)
    if n == 0:
        return np.zeros(G.point_shape, np.uint64)
    parts = -(-n // MOST_POINTS_A_TASK)
    bits = _best_window_bits(n // parts)
    count = window_count(G.order, bits)
    parts = max(parts, min(2 * threads_of(run) // count, n // FEWEST_POINTS_A_TASK))
    inputs = read_only_bytes(points), read_only_bytes(scalars), window_bias(bits, count)
    tasks = [(G.field, *inputs, bits, window, *span) for window in range(count) for span in chunks(n, parts)]
    return fold(G, np.concatenate(run(_window_sum, tasks)), parts, bits)
