"""Scalars cut into signed digits, and points sorted by them (see `kernels.cpu.windows`).

A bucket is a window and the size of a digit: number window·2^(bits−1) + |digit| − 1. An entry is a point's
number times two, plus 1 where the digit is negative. Zeros have no bucket.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from numba import cuda, int64, uint32, uint64

from kernels.cpu.windows import SCALAR_LIMBS, window_count
from kernels.cuda.launch import device, kernel, launch
from kernels.cuda.memory import Workspace
from kernels.cuda.radix import sort_into_buckets
from kernels.cuda.tiles import NO_BUCKET
from kernels.encoding import ints_to_limbs

FACTORS = range(1, 16, 2)
CHUNK_BITS = 16  # of a number are divided by a factor at once, with a rest below 16
RECIPROCAL_BITS = 28


@dataclass(frozen=True)
class Base:
    """`count` digits in base factor·2^shift, from −half to half − 1 and the highest from 0 to half."""

    factor: int
    shift: int
    count: int

    @property
    def half(self) -> int:
        return self.factor << self.shift >> 1

    @property
    def bits(self) -> int:
        """2^(bits − 1) buckets are enough for a window's digits."""
        return (self.half - 1).bit_length() + 1

    @property
    def bias(self) -> int:
        """`half` in every digit but the highest: added to a number, it makes them positive."""
        return sum(self.half * (2 * self.half) ** i for i in range(self.count - 1))

    def is_enough(self, limit: int) -> bool:
        """Whether they can make up every number below the limit."""
        return (limit - 1 + self.bias) // (2 * self.half) ** (self.count - 1) <= self.half


def base_of_bits(limit: int, bits: int) -> Base:
    """2^bits, and as many digits as numbers below the limit take."""
    return Base(1, bits, window_count(limit, bits))


@cache
def smallest_base(limit: int, count: int) -> Base:
    """The smallest in which `count` digits are enough.

    With powers of two alone, 11 windows would have nearly twice as many buckets as 255 bits want.
    """
    bits = -(-limit.bit_length() // count) + 1
    bases = (Base(factor, shift, count) for factor in FACTORS for shift in range(1, bits + 1))
    return min((base for base in bases if base.is_enough(limit)), key=lambda base: base.half)


@dataclass(frozen=True)
class Windows:
    """Digits `first` to `last` − 1 of scalars: window w has the buckets of set (w − first) % sets."""

    base: Base
    first: int
    last: int
    sets: int


@device
def _add(a: Any, b: Any, carry: Any) -> Any:
    """a + b + carry as (sum, carry), uint64."""
    partial = uint64(a + b)
    total = uint64(partial + carry)
    return total, uint64((partial < a) | (total < partial))


@device
def _divide(word: Any, rest: Any, factor: Any, reciprocal: Any) -> Any:
    """(quotient, rest) of rest·2^64 + word by the factor, which rests are below; all but words are uint32."""
    quotient = uint64(0)
    for k in range(64 // CHUNK_BITS):
        chunk = uint32(word >> uint64(64 - CHUNK_BITS * (k + 1))) & uint32((1 << CHUNK_BITS) - 1)
        value = uint32(uint32(rest << uint32(CHUNK_BITS)) | chunk)
        part = uint32(uint64(uint64(value) * uint64(reciprocal)) >> uint64(RECIPROCAL_BITS))
        quotient = uint64(quotient << uint64(CHUNK_BITS)) | uint64(part)
        rest = uint32(value - uint32(part * factor))
    return quotient, rest


@kernel
def _cut(scalars: Any, bias: Any, shape: Any, codes: Any) -> None:
    """codes[w, i] = what `radix.sort_into_buckets` takes for digit first + w of scalar i.

    shape: factor, shift, half, buckets of a set, digits, first, sets.
    """
    i = cuda.grid(1)
    if i >= scalars.shape[0]:
        return
    factor, shift, half, buckets, count, first, sets = shape
    low, carry = _add(scalars[i, 0], bias[0], uint64(0))
    second, carry = _add(scalars[i, 1], bias[1], carry)
    third, carry = _add(scalars[i, 2], bias[2], carry)
    top, carry = _add(scalars[i, 3], bias[3], carry)
    mask, down, up = (uint64(1) << uint64(shift)) - uint64(1), uint64(shift), uint64(64 - shift)
    divisor, reciprocal = uint32(factor), uint32(((1 << RECIPROCAL_BITS) + factor - 1) // factor)
    for w in range(first + codes.shape[0]):
        digit = int64(low & mask)
        low = uint64(low >> down | second << up)
        second = uint64(second >> down | third << up)
        third = uint64(third >> down | top << up)
        top = uint64(top >> down)
        if factor > 1:
            rest = uint32(0)
            if top != uint64(0):
                top, rest = _divide(top, rest, divisor, reciprocal)
            if third != uint64(0) or rest != uint32(0):
                third, rest = _divide(third, rest, divisor, reciprocal)
            if second != uint64(0) or rest != uint32(0):
                second, rest = _divide(second, rest, divisor, reciprocal)
            low, rest = _divide(low, rest, divisor, reciprocal)
            digit += int64(rest) << shift
        if w < count - 1:
            digit -= half
        if w >= first:
            bucket = abs(digit) - 1 + (w - first) % sets * buckets
            code = 2 * bucket + (1 if digit < 0 else 0)
            codes[w - first, i] = uint32(NO_BUCKET if digit == 0 else code)


def sort_by_digit(scalars: Any, windows: Windows, workspace: Workspace) -> tuple[Any, Any]:
    """(entries, starts): bucket b's entries are entries[starts[b]:starts[b + 1]], in any order.

    scalars: device, (n, 4) canonical, n times the number of windows below 2^31. What an entry says:
    `radix.sort_into_buckets`. The arrays are the workspace's.
    """
    base, n, count = windows.base, scalars.shape[0], windows.last - windows.first
    buckets = 1 << base.bits - 1
    bias = cuda.to_device(ints_to_limbs([base.bias], SCALAR_LIMBS)[0])
    codes = workspace.array("entries", (count, n), "uint32")
    shape = base.factor, base.shift, base.half, buckets, base.count, windows.first, windows.sets
    launch(_cut, n, scalars, bias, shape, codes)
    return sort_into_buckets(codes.reshape(count * n), count, buckets, windows.sets, workspace)
