"""Scalars cut into signed digits, and points sorted by them (see `kernels.cpu.windows`).

A bucket is a window and the size of a digit: number window·2^(bits−1) + |digit| − 1. An entry is a point's
number times two, plus 1 where the digit is negative. Zeros have no bucket.
"""

from typing import Any

from numba import cuda, int32, int64, uint32, uint64

from kernels.cpu.windows import SCALAR_LIMBS, window_bias
from kernels.cuda.counters import take_number
from kernels.cuda.launch import device, kernel, launch
from kernels.cuda.memory import Workspace
from kernels.cuda.scan import exclusive_scan
from kernels.encoding import ints_to_limbs


@device
def _add_with_carry(a: Any, b: Any, carry: Any) -> Any:
    """a + b + carry as (sum, carry), uint64."""
    partial = uint64(a + b)
    total = uint64(partial + carry)
    return total, uint64((partial < a) | (total < partial))


@kernel
def _cut(scalars: Any, bias: Any, bits: int, windows: int, first: int, digits: Any, counts: Any) -> None:
    """digits[w, i] = digit first + w of scalar i, and counts[bucket] = its entries."""
    i = cuda.grid(1)
    if i >= scalars.shape[0]:
        return
    low, carry = _add_with_carry(scalars[i, 0], bias[0], uint64(0))
    second, carry = _add_with_carry(scalars[i, 1], bias[1], carry)
    third, carry = _add_with_carry(scalars[i, 2], bias[2], carry)
    top, carry = _add_with_carry(scalars[i, 3], bias[3], carry)
    half = int64(1) << (bits - 1)
    mask, down, up = uint64(2 * half - 1), uint64(bits), uint64(64 - bits)
    for w in range(first + digits.shape[0]):
        digit = int64(low & mask)
        if w < windows - 1:
            digit -= half
        if w >= first:
            digits[w - first, i] = int32(digit)
            if digit != 0:
                take_number(counts, (w - first) * half + abs(digit) - 1)
        low = uint64(low >> down | second << up)
        second = uint64(second >> down | third << up)
        third = uint64(third >> down | top << up)
        top = uint64(top >> down)


@kernel
def _scatter(digits: Any, half: int, cursors: Any, entries: Any) -> None:
    """Writes each digit's entry where its bucket's cursor points."""
    i = cuda.grid(1)
    n = digits.shape[1]
    if i >= n * digits.shape[0]:
        return
    w = i // n
    i -= w * n
    digit = int64(digits[w, i])
    if digit != 0:
        bucket = w * half + abs(digit) - 1
        position = take_number(cursors, bucket)
        entries[position] = uint32(2 * i + (1 if digit < 0 else 0))


@device
def bucket_at(starts: Any, position: int, low: int) -> Any:
    """The bucket, from number `low` on, that holds the entry at `position`."""
    high = int64(starts.shape[0] - 1)
    low = int64(low)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@kernel
def _clear(values: Any) -> None:
    i = cuda.grid(1)
    if i < values.shape[0]:
        values[i] = 0


@kernel
def _copy(out: Any, values: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = values[i]


def sort_by_digit(
    scalars: Any, bits: int, windows: int, span: tuple[int, int], workspace: Workspace
) -> tuple[Any, Any]:
    """(entries, starts): bucket b's entries are entries[starts[b]:starts[b + 1]], in any order.

    scalars: device, (n, 4) canonical, n below 2^31. span: the first window, of `windows` in all, and the one
    after the last; n times their number is below 2^32. The arrays are the workspace's.
    """
    n, half, count = scalars.shape[0], 1 << (bits - 1), span[1] - span[0]
    buckets = count * half
    bias = cuda.to_device(ints_to_limbs([window_bias(bits, windows)], SCALAR_LIMBS)[0])
    digits = workspace.array("digits", (count, n), "int32")
    starts = workspace.array("bucket starts", (buckets + 1,), "uint32")
    cursors = workspace.array("bucket cursors", (buckets,), "uint32")
    entries = workspace.array("entries", (count * n,), "uint32")
    launch(_clear, buckets + 1, starts)
    launch(_cut, n, scalars, bias, bits, windows, span[0], digits, starts)
    exclusive_scan(starts, buckets + 1, workspace)
    launch(_copy, buckets, cursors, starts)
    launch(_scatter, count * n, digits, half, cursors, entries)
    return entries, starts
