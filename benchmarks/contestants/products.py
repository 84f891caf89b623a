"""How many field products a second a core can do at all: chains of them in registers, nothing else.

A product needs its predecessor's result, so several chains run side by side; their number is the best for
the processors at hand, and a kernel with its loads and stores can only be slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import field as f
from kernels.cpu import lanes
from kernels.fields import CURVES, Field, QuadraticField

ROUNDS = 100_000
FIELDS: dict[str, Field | QuadraticField] = {
    each.name: each for curve in CURVES.values() for each in (curve.fq, curve.fq2, curve.fr)
}


def prepare(field: str, operation: str) -> tuple[Callable[[], Any], int, str]:
    """What runs `operation` ("mul" or "square"), how many of them, and the name of the variant."""
    own = FIELDS[field]
    eight = lanes.lanes_of(own)
    if eight is not None:
        kernel = _lane_products if operation == "mul" else _lane_squares
        values = lanes.empty(eight, 4)
        values[:] = 3
        return (lambda: kernel(eight, values, ROUNDS)), 2 * lanes.LANES * ROUNDS, "8 × 52-bit IFMA"
    kernel = _products if operation == "mul" else _squares
    words = own.limbs if isinstance(own, Field) else 2 * own.base.limbs
    rows = np.full((4, words), 3, np.uint64)
    return (lambda: kernel(own, rows, ROUNDS)), 4 * ROUNDS, "64-bit limbs"


@njit(cache=True, nogil=True)
def _products(F: Any, values: Any, rounds: int) -> None:
    a, b, c, d = f.load(F, values, 0), f.load(F, values, 1), f.load(F, values, 2), f.load(F, values, 3)
    factor = a
    for _ in range(rounds):
        a, b = f.mul(F, a, factor), f.mul(F, b, factor)
        c, d = f.mul(F, c, factor), f.mul(F, d, factor)
    f.store(F, values, 0, a)
    f.store(F, values, 1, b)
    f.store(F, values, 2, c)
    f.store(F, values, 3, d)


@njit(cache=True, nogil=True)
def _squares(F: Any, values: Any, rounds: int) -> None:
    a, b, c, d = f.load(F, values, 0), f.load(F, values, 1), f.load(F, values, 2), f.load(F, values, 3)
    for _ in range(rounds):
        a, b, c, d = f.square(F, a), f.square(F, b), f.square(F, c), f.square(F, d)
    f.store(F, values, 0, a)
    f.store(F, values, 1, b)
    f.store(F, values, 2, c)
    f.store(F, values, 3, d)


@njit(cache=True, nogil=True)
def _lane_products(F: Any, values: Any, rounds: int) -> None:
    a, b, factor = lanes.load(F, values, 0), lanes.load(F, values, 1), lanes.load(F, values, 2)
    for _ in range(rounds):
        a, b = lanes.mul(F, a, factor), lanes.mul(F, b, factor)
    lanes.store(F, values, 0, a)
    lanes.store(F, values, 1, b)


@njit(cache=True, nogil=True)
def _lane_squares(F: Any, values: Any, rounds: int) -> None:
    a, b = lanes.load(F, values, 0), lanes.load(F, values, 1)
    for _ in range(rounds):
        a, b = lanes.square(F, a), lanes.square(F, b)
    lanes.store(F, values, 0, a)
    lanes.store(F, values, 1, b)
