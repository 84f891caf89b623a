"""Scalars cut into windows of signed digits, and points sorted by them.

Signed digits in [−2^(c−1), 2^(c−1)) halve the buckets, as −P costs nothing. They come without a carry from
window to window: add 2^(c−1) to every window but the highest, cut, and take it off each digit again.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu.formulas import load_word
from kernels.encoding import Limbs

SCALAR_LIMBS = 4
SCALARS_AT_A_TIME = 512  # with their bias they stay in the first cache while their digits are read


def window_bias(window_bits: int, count: int) -> int:
    """2^(window_bits−1) in each of `count` windows but the highest."""
    return sum(1 << (window_bits * (i + 1) - 1) for i in range(count - 1))


@cache
def window_count(limit: int, window_bits: int) -> int:
    """The fewest windows, of 2 bits or more, whose digits can make up every number below `limit`.

    The highest digit is in [0, 2^(window_bits−1)].
    """
    count = max(1, (limit - 1).bit_length() // window_bits)
    while limit - 1 + window_bias(window_bits, count) >> window_bits * (count - 1) > 1 << (window_bits - 1):
        count += 1
    return count


def check_scalars(scalars: Limbs, n: int) -> None:
    """Raises ValueError unless the array can be n canonical scalars."""
    if scalars.shape != (n, SCALAR_LIMBS) or scalars.dtype != np.uint64:
        raise ValueError(f"scalars are {scalars.dtype} {scalars.shape}, expected uint64 {(n, SCALAR_LIMBS)}")


@njit(cache=True, nogil=True)
def load_scalars(out: Any, codes: Any, scalars: Any, order: Any, bias: Any, start: int, stop: int) -> None:
    """out[i] = scalar + bias, or order − scalar + bias for an odd code, for the codes [start, stop).

    out: (n, limbs); scalars: bytes, SCALAR_LIMBS words each; a scalar's number is half its code.
    """
    for i in range(start, stop):
        first = SCALAR_LIMBS * np.int64(codes[i] >> 1)
        carry, borrow = np.uint64(0), np.uint64(0)
        for k in range(out.shape[1]):
            word = load_word(scalars, first + k)
            if codes[i] & 1:
                less = order[k] - word
                word, borrow = less - borrow, np.uint64((order[k] < word) | (less < borrow))
            partial = word + bias[k]
            out[i, k] = partial + carry
            carry = np.uint64((partial < word) | (out[i, k] < partial))


@njit(cache=True, nogil=True)
def signed_digit(biased: Any, i: int, window_bits: int, count: int, window: int) -> Any:
    """Digit `window` of number i of `biased` (n, limbs)."""
    limb, shift = window * window_bits >> 6, np.uint64(window * window_bits & 63)
    high = biased[i, limb + 1] if limb + 1 < biased.shape[1] else np.uint64(0)
    # Two shifts, as one by 64 − 0 bits would be undefined.
    value = biased[i, limb] >> shift | high << np.uint64(1) << (np.uint64(63) - shift)
    digit = np.int64(value & ((np.uint64(1) << np.uint64(window_bits)) - np.uint64(1)))
    return digit - (np.int64(1) << np.int64(window_bits - 1)) if window < count - 1 else digit


@njit(cache=True, nogil=True)
def read_digits(
    digits: Any, codes: Any, scalars: Any, order: Any, bias: Any, window_bits: int, start: int, stop: int
) -> None:
    """digits[w, i] = digit w of scalar or order − scalar, for the codes [start, stop).

    digits: (windows, n) uint16, each digit's lowest 16 bits: the highest window's has no sign. codes, scalars
    and order as for `load_scalars`. bias: (limbs,), as many as a scalar with its bias needs.
    """
    count = digits.shape[0]
    biased = np.empty((SCALARS_AT_A_TIME, bias.shape[0]), np.uint64)
    for first in range(start, stop, SCALARS_AT_A_TIME):
        size = min(SCALARS_AT_A_TIME, stop - first)
        load_scalars(biased, codes[first:], scalars, order, bias, 0, size)
        for window in range(count):
            for i in range(size):
                digits[window, first + i] = signed_digit(biased, i, window_bits, count, window)


@njit(cache=True, nogil=True)
def widened(digit: Any, signed: bool) -> Any:
    """A digit of 16 bits, with or without a sign, as int64."""
    return np.int64(np.int16(digit)) if signed else np.int64(digit)


@njit(cache=True, nogil=True)
def count_digits(digits: Any, highest: int, half: int, start: int, stop: int, counts: Any) -> None:
    """counts[w·half + size] = how many digits of [start, stop) in row w have that size, 1 to `half`.

    digits: rows of `read_digits`, of which number `highest` has no signs. counts: zeros at first.
    """
    for window in range(digits.shape[0]):
        own, zeros = counts[window * half :], 0
        for i in range(start, stop):
            size = abs(widened(digits[window, i], window != highest))
            own[size] += 1
            zeros += size == 0
        own[0] -= zeros


@njit(cache=True, nogil=True)
def sort_by_digits(
    digits: Any, highest: int, codes: Any, start: int, stop: int, starts: Any, sorted_codes: Any
) -> None:
    """Sorts [start, stop) by their digits' sizes, row after row. Zeros are left out.

    codes: (n,) uint32, even for point and odd for −point; so are the sorted ones, with the digit's sign taken
    in. starts: the sums of all counts before; still that at the end.
    """
    half, total = (starts.shape[0] - 1) // digits.shape[0], starts[-1]
    for window in range(digits.shape[0]):
        own = starts[window * half :]
        for k in range(stop - start):
            i = stop - 1 - k
            digit = widened(digits[window, i], window != highest)
            if digit != 0:
                size = abs(digit)
                own[size] -= 1
                sorted_codes[own[size]] = codes[i] ^ np.uint32(digit < 0)
    for k in range(starts.shape[0] - 1):
        starts[k] = starts[k + 1]
    starts[-1] = total
