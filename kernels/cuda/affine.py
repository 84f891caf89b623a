"""Sums of points brought to affine coordinates by shared inversions (P. Montgomery's trick)."""

from typing import Any

from numba import cuda

from kernels.cuda import curve
from kernels.cuda import field as f
from kernels.cuda.inversion import inverse
from kernels.cuda.launch import kernel, launch

BATCH = 32  # points of a thread: an inversion is as long as 45 products


@kernel
def _to_affine(F: Any, sums: Any, out: Any) -> None:
    """Thread t takes points t, t + threads, …; prefix products are kept where the points come."""
    t, n = cuda.grid(1), out.shape[0]
    threads = (n + BATCH - 1) // BATCH
    if t >= threads:
        return
    product = f.one(F)
    for k in range(BATCH):
        i = t + k * threads
        if i < n:
            f.store(F, out, 2 * i, product)
            zzz = f.load(F, sums, 4 * i + 3)
            product = f.mul(F, product, f.select(F, f.is_zero(F, zzz), f.one(F), zzz))
    rest = inverse(F, product)
    for k in range(BATCH):
        i = t + (BATCH - 1 - k) * threads
        if i < n:
            x, y, zz, zzz = curve.load_point(F, sums, i)
            is_infinity = f.is_zero(F, zzz)
            per_zzz = f.mul(F, rest, f.load(F, out, 2 * i))
            rest = f.mul(F, rest, f.select(F, is_infinity, f.one(F), zzz))
            x = f.mul(F, x, f.square(F, f.mul(F, per_zzz, zz)))  # zz/zzz = 1/z; zero at infinity
            f.store(F, out, 2 * i, x)
            f.store(F, out, 2 * i + 1, f.select(F, is_infinity, f.zero(F), f.mul(F, y, per_zzz)))


def to_affine(F: Any, sums: Any, out: Any) -> None:
    """out[i] = XYZZ point i of sums, affine, infinity all zeros; out: (n, *point_shape), other memory."""
    launch(_to_affine, -(-out.shape[0] // BATCH), F, sums, out)
