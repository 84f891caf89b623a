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
def sort_by_digit(
    biased: Any,
    codes: Any,
    window_bits: int,
    count: int,
    window: int,
    start: int,
    stop: int,
    digits: Any,
    starts: Any,
    sorted_codes: Any,
) -> None:
    """Sorts [start, stop) by the size of digit `window` after what is in sorted_codes[:starts[0]].

    codes: (n,) uint32, even for point and odd for −point; so are the sorted ones, with the digit's sign taken
    in. starts: 2^(window_bits−1) + 1 places in `sorted_codes`, one for each size 1, 2, … and their end.
    Zeros are left out. digits: scratch, int32, of stop − start.
    """
    half = 1 << (window_bits - 1)
    position = starts[0]
    for k in range(1, half + 1):
        starts[k] = 0
    for i in range(start, stop):
        digit = signed_digit(biased, i, window_bits, count, window)
        digits[i - start] = digit
        starts[abs(digit)] += 1
    starts[0] = position
    for k in range(1, half + 1):  # starts[k] = the end of size k, then by filling from the end its start
        position += starts[k]
        starts[k] = position
    for k in range(stop - start):
        i = stop - 1 - k
        digit = np.int64(digits[i - start])
        if digit != 0:
            size = abs(digit)
            starts[size] -= 1
            sorted_codes[starts[size]] = codes[i] ^ np.uint32(digit < 0)
    for k in range(half):
        starts[k] = starts[k + 1]
    starts[half] = position
