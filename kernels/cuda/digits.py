"""Scalars cut into signed digits, and points sorted by them (see `kernels.cpu.windows`).

A bucket is a window and the size of a digit: number window·2^(bits−1) + |digit| − 1. An entry is a point's
number times two, plus 1 where the digit is negative. Zeros have no bucket.
"""

from typing import Any

from numba import cuda, int32, int64, uint32, uint64

from kernels.cpu.windows import SCALAR_LIMBS, window_bias
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
def _cut(scalars: Any, bias: Any, bits: int, windows: int, digits: Any, counts: Any) -> None:
    """digits[w, i] = digit w of scalar i, and counts[bucket] = its entries."""
    i = cuda.grid(1)
    if i >= scalars.shape[0]:
        return
    first, carry = _add_with_carry(scalars[i, 0], bias[0], uint64(0))
    second, carry = _add_with_carry(scalars[i, 1], bias[1], carry)
    third, carry = _add_with_carry(scalars[i, 2], bias[2], carry)
    top, carry = _add_with_carry(scalars[i, 3], bias[3], carry)
    half = int64(1) << (bits - 1)
    mask, down, up = uint64(2 * half - 1), uint64(bits), uint64(64 - bits)
    for w in range(windows):
        digit = int64(first & mask)
        if w < windows - 1:
            digit -= half
        digits[w, i] = int32(digit)
        if digit != 0:
            cuda.atomic.add(counts, w * half + abs(digit) - 1, uint32(1))
        first = uint64(first >> down | second << up)
        second = uint64(second >> down | third << up)
        third = uint64(third >> down | top << up)
        top = uint64(top >> down)


@kernel
def _scatter(digits: Any, half: int, cursors: Any, entries: Any) -> None:
    """Writes each digit's entry where its bucket's cursor points. Grid: points by windows."""
    i = cuda.grid(1)
    n = digits.shape[1]
    if i >= n * digits.shape[0]:
        return
    w = i // n
    i -= w * n
    digit = int64(digits[w, i])
    if digit != 0:
        position = cuda.atomic.add(cursors, w * half + abs(digit) - 1, uint32(1))
        entries[position] = uint32(2 * i + (1 if digit < 0 else 0))


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


def sort_by_digit(scalars: Any, bits: int, windows: int, workspace: Workspace) -> tuple[Any, Any]:
    """(entries, starts): bucket b's entries are entries[starts[b]:starts[b + 1]], in no certain order.

    scalars: device, (n, 4) canonical, n below 2^31 and n·windows below 2^32. Both arrays are the workspace's.
    """
    n, half = scalars.shape[0], 1 << (bits - 1)
    buckets = windows * half
    bias = cuda.to_device(ints_to_limbs([window_bias(bits, windows)], SCALAR_LIMBS)[0])
    digits = workspace.array("digits", (windows, n), "int32")
    starts = workspace.array("bucket starts", (buckets + 1,), "uint32")
    cursors = workspace.array("bucket cursors", (buckets,), "uint32")
    entries = workspace.array("entries", (windows * n,), "uint32")
    launch(_clear, buckets + 1, starts)
    launch(_cut, n, scalars, bias, bits, windows, digits, starts)
    exclusive_scan(starts, buckets + 1, workspace)
    launch(_copy, buckets, cursors, starts)
    launch(_scatter, windows * n, digits, half, cursors, entries)
    return entries, starts
