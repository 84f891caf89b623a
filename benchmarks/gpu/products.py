"""How many field products a second a device can do at all: chains of them in registers, nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from kernels.cuda import field as f
from kernels.cuda.launch import kernel, launch
from kernels.cuda.memory import element_words
from kernels.cuda.transfer import new_array
from kernels.fields import Field, QuadraticField

CHAINS, ROUNDS = 1 << 22, 1 << 5  # so many blocks that it does not matter when the last ones end
OPERATIONS = 4 * CHAINS * ROUNDS


@kernel
def _products(F: Any, values: Any, rounds: int) -> None:
    i = cuda.grid(1)
    factor = f.load(F, values, i)
    x = factor
    for _ in range(rounds):
        x = f.mul(F, f.mul(F, f.mul(F, f.mul(F, x, factor), factor), factor), factor)
    f.store(F, values, i, x)


@kernel
def _squares(F: Any, values: Any, rounds: int) -> None:
    i = cuda.grid(1)
    x = f.load(F, values, i)
    for _ in range(rounds):
        x = f.square(F, f.square(F, f.square(F, f.square(F, x))))
    f.store(F, values, i, x)


def new_values(F: Field | QuadraticField) -> Any:
    """The chains' values on the device; whatever lies there, as no operation takes longer for one of them."""
    return new_array((CHAINS, element_words(F)), np.uint64)


def run(F: Field | QuadraticField, operation: str, values: Any) -> None:
    """OPERATIONS of "mul" or "square"."""
    launch(_products if operation == "mul" else _squares, CHAINS, F, values, ROUNDS)
