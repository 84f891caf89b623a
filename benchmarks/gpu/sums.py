"""Sums of vectors of field elements on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from kernels.cuda import field as f
from kernels.cuda import vectors
from kernels.cuda.launch import kernel, launch
from kernels.cuda.transfer import new_array
from kernels.encoding import limbs_to_ints
from kernels.fields import Field


@kernel
def _halve(F: Any, terms: Any, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        f.store(F, terms, i, f.add(F, f.load(F, terms, i), f.load(F, terms, i + n)))


def total(F: Field, terms: Any) -> int:
    """The sum of 2^k elements, in the form that they have; they are overwritten."""
    n = len(terms)
    while n > 1:
        n //= 2
        launch(_halve, n, F, terms, n)
    (result,) = limbs_to_ints(terms[:1].copy_to_host())
    return result


def inner_product(F: Field, a: Any, b: Any) -> int:
    """Σ a[i]·b[i] of canonical elements, 2^k of them."""
    products = new_array(a.shape, np.uint64)
    vectors.multiply(F, products, a, b)  # products of canonical numbers lack a factor R
    return total(F, products) * F.montgomery_one % F.modulus
