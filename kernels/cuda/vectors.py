"""Kernels over vectors of field elements in device memory: `kernels.cpu.vectors` for a device.

F is a `Field` or `QuadraticField`; arrays are (n, L) or (n, 2, L), uint64, C-contiguous, in Montgomery form
unless said otherwise. `out` may be one of the inputs; its length decides.
"""

from typing import Any

from numba import cuda, int64

from kernels.cuda import field as f
from kernels.cuda.launch import kernel, launch


@kernel
def _multiply(F: Any, out: Any, a: Any, b: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        f.store(F, out, i, f.mul(F, f.load(F, a, i), f.load(F, b, i)))


@kernel
def _multiply_subtract(F: Any, out: Any, a: Any, b: Any, c: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        product = f.mul(F, f.load(F, a, i), f.load(F, b, i))
        f.store(F, out, i, f.sub(F, product, f.load(F, c, i)))


@kernel
def _scale(F: Any, out: Any, a: Any, factor: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        f.store(F, out, i, f.mul(F, f.load(F, a, i), f.load(F, factor, 0)))


@kernel
def _take(F: Any, out: Any, a: Any, indices: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        f.store(F, out, i, f.load(F, a, int64(indices[i])))


@kernel
def _to_montgomery(F: Any, out: Any, a: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        f.store(F, out, i, f.mul(F, f.load(F, a, i), f.r_squared(F)))


@kernel
def _from_montgomery(F: Any, out: Any, a: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        f.store(F, out, i, f.mul(F, f.load(F, a, i), f.plain_one(F)))


def multiply(F: Any, out: Any, a: Any, b: Any) -> None:
    """out = a·b, element by element."""
    launch(_multiply, len(out), F, out, a, b)


def multiply_subtract(F: Any, out: Any, a: Any, b: Any, c: Any) -> None:
    """out = a·b − c, element by element."""
    launch(_multiply_subtract, len(out), F, out, a, b, c)


def scale(F: Any, out: Any, a: Any, factor: Any) -> None:
    """out = factor·a; factor is an array of one element."""
    launch(_scale, len(out), F, out, a, factor)


def take(F: Any, out: Any, a: Any, indices: Any) -> None:
    """out[i] = a[indices[i]], in any form; out is none of the inputs."""
    launch(_take, len(out), F, out, a, indices)


def to_montgomery(F: Any, out: Any, a: Any) -> None:
    """out = a, from canonical integers below the modulus to Montgomery form."""
    launch(_to_montgomery, len(out), F, out, a)


def from_montgomery(F: Any, out: Any, a: Any) -> None:
    """out = a, from Montgomery form to canonical integers."""
    launch(_from_montgomery, len(out), F, out, a)
