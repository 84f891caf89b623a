"""Scalars cut into signed digits, and points sorted by them (see `kernels.cpu.windows`).

A bucket is a window and the size of a digit: number window·2^(bits−1) + |digit| − 1. An entry is a point's
number times two, plus 1 where the digit is negative. Zeros have no bucket.
"""

from dataclasses import dataclass
from typing import Any

from numba import cuda, int64, uint32, uint64

from kernels.cpu.windows import SCALAR_LIMBS, window_bias
from kernels.cuda.launch import device, kernel, launch
from kernels.cuda.memory import Workspace
from kernels.cuda.radix import NO_BUCKET, sort_into_buckets
from kernels.encoding import ints_to_limbs


@dataclass(frozen=True)
class Windows:
    """Windows `first` to `last` − 1 of the `count` that a scalar is cut into, of `bits` bits each.

    Window w has the buckets of set (w − first) % sets.
    """

    bits: int
    count: int
    first: int
    last: int
    sets: int


@device
def _add_with_carry(a: Any, b: Any, carry: Any) -> Any:
    """a + b + carry as (sum, carry), uint64."""
    partial = uint64(a + b)
    total = uint64(partial + carry)
    return total, uint64((partial < a) | (total < partial))


@kernel
def _cut(scalars: Any, bias: Any, bits: int, windows: int, first: int, sets: int, codes: Any) -> None:
    """codes[w, i] = what `radix.sort_into_buckets` takes for digit first + w of scalar i."""
    i = cuda.grid(1)
    if i >= scalars.shape[0]:
        return
    low, carry = _add_with_carry(scalars[i, 0], bias[0], uint64(0))
    second, carry = _add_with_carry(scalars[i, 1], bias[1], carry)
    third, carry = _add_with_carry(scalars[i, 2], bias[2], carry)
    top, carry = _add_with_carry(scalars[i, 3], bias[3], carry)
    half = int64(1) << (bits - 1)
    mask, down, up = uint64(2 * half - 1), uint64(bits), uint64(64 - bits)
    for w in range(first + codes.shape[0]):
        digit = int64(low & mask)
        if w < windows - 1:
            digit -= half
        if w >= first:
            bucket = abs(digit) - 1 + (w - first) % sets * half
            code = 2 * bucket + (1 if digit < 0 else 0)
            codes[w - first, i] = uint32(NO_BUCKET if digit == 0 else code)
        low = uint64(low >> down | second << up)
        second = uint64(second >> down | third << up)
        third = uint64(third >> down | top << up)
        top = uint64(top >> down)


def sort_by_digit(scalars: Any, windows: Windows, workspace: Workspace) -> tuple[Any, Any]:
    """(entries, starts): bucket b's entries are entries[starts[b]:starts[b + 1]], in any order.

    scalars: device, (n, 4) canonical, n times the number of windows below 2^31. What an entry says:
    `radix.sort_into_buckets`. The arrays are the workspace's.
    """
    n, bits, count = scalars.shape[0], windows.bits, windows.last - windows.first
    bias = cuda.to_device(ints_to_limbs([window_bias(bits, windows.count)], SCALAR_LIMBS)[0])
    codes = workspace.array("entries", (count, n), "uint32")
    launch(_cut, n, scalars, bias, bits, windows.count, windows.first, windows.sets, codes)
    return sort_into_buckets(codes.reshape(count * n), count, 1 << (bits - 1), windows.sets, workspace)
