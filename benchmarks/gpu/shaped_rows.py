"""The matrices of a circuit (`benchmarks.circuits.shaped`) on a device, where only its shape is kept.

`evaluate` is their product with a witness, `key_scalars` that of their transposes with a Lagrange basis.
"""

from __future__ import annotations

from typing import Any

from numba import cuda

from benchmarks.circuits.shaped import C_SHIFT, OCTET, Shape
from benchmarks.gpu.sums import total
from kernels.cuda import field as f
from kernels.cuda.launch import device, kernel, launch
from kernels.fields import Field

Sizes = tuple[int, int, int, int, int]


def sizes_of(shape: Shape) -> Sizes:
    """What kernels take in place of a shape."""
    wires = shape.n_wires - 1
    return shape.n_constraints, wires, shape.n_public, shape.third_terms, shape.rows_a_b_wire


@kernel
def _evaluate(F: Any, sizes: Any, values: Any, a: Any, b: Any) -> None:
    i = cuda.grid(1)
    if i >= a.shape[0]:
        return
    n_constraints, wires, n_public, third_terms, rows_a_b_wire = sizes
    x, y = f.zero(F), f.zero(F)
    if i < n_constraints:
        x = f.sub(F, f.load(F, values, 1 + i % wires), f.load(F, values, 1 + (i + 1) % wires))
        if i % OCTET < third_terms:
            third = f.load(F, values, 1 + (i + 2) % wires)
            x = f.add(F, f.add(F, x, third), third)
        y = f.load(F, values, 1 + i // rows_a_b_wire)
    elif i <= n_constraints + n_public:
        x = f.load(F, values, i - n_constraints)
    f.store(F, a, i, x)
    f.store(F, b, i, y)


def evaluate(F: Field, shape: Shape, values: Any, a: Any, b: Any) -> None:
    """a, b = A·values, B·values and the rows that bind the public signals, then zeros; in values' form."""
    launch(_evaluate, len(a), F, sizes_of(shape), values, a, b)


@device
def _column(F: Any, basis: Any, first: int, step: int, stop: int, most: int) -> Any:
    """Σ basis[i] for i from `first` below `stop` by `step`, where i's rest by OCTET is below `most`."""
    total = f.zero(F)
    for i in range(first, stop, step):
        if i % OCTET < most:
            total = f.add(F, total, f.load(F, basis, i))
    return total


@kernel
def _key_scalars(F: Any, sizes: Any, basis: Any, weights: Any, a: Any, b: Any, k: Any) -> None:
    wire = cuda.grid(1)
    n, wires, n_public, third_terms, rows_a_b_wire = sizes
    if wire > wires:
        return
    x, y, z = f.zero(F), f.zero(F), f.zero(F)
    if wire > 0:
        place = wire - 1 + wires
        third = _column(F, basis, (place - 2) % wires, wires, n, third_terms)
        x = _column(F, basis, place % wires, wires, n, OCTET)
        x = f.sub(F, x, _column(F, basis, (place - 1) % wires, wires, n, OCTET))
        x = f.add(F, f.add(F, x, third), third)
        first = (wire - 1) * rows_a_b_wire
        y = _column(F, basis, first, 1, min(first + rows_a_b_wire, n), OCTET)
        z = _column(F, basis, (place - C_SHIFT) % wires, wires, n, OCTET)
    if wire <= n_public:
        x = f.add(F, x, f.load(F, basis, n + wire))
    f.store(F, a, wire, f.mul(F, x, f.plain_one(F)))
    f.store(F, b, wire, f.mul(F, y, f.plain_one(F)))
    total = f.mul(F, x, f.load(F, weights, 0))
    total = f.add(F, total, f.mul(F, y, f.load(F, weights, 1)))
    f.store(F, k, wire, f.add(F, total, f.mul(F, z, f.load(F, weights, 2))))


def key_scalars(F: Field, shape: Shape, basis: Any, weights: Any, a: Any, b: Any, k: Any) -> None:
    """a, b = A_j, B_j at tau, and k = their sum with C_j by three weights, for every wire j; all canonical.

    basis: the Lagrange basis at tau, Montgomery; weights: (3, 4) canonical; a, b, k: (n_wires, 4). C's column
    of constants, which depends on the witness, is left out (see `constants`).
    """
    launch(_key_scalars, shape.n_wires, F, sizes_of(shape), basis, weights, a, b, k)


@kernel
def _constants(F: Any, sizes: Any, values: Any, a: Any, b: Any, basis: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    n, wires = sizes[0], sizes[1]
    term = f.zero(F)
    if i < n:
        product = f.mul(F, f.mul(F, f.load(F, a, i), f.load(F, b, i)), f.r_squared(F))
        constant = f.sub(F, product, f.load(F, values, 1 + (i + C_SHIFT) % wires))
        term = f.mul(F, constant, f.load(F, basis, i))
    f.store(F, out, i, term)


def constants(F: Field, shape: Shape, values: Any, a: Any, b: Any, basis: Any, scratch: Any) -> int:
    """C's column of constants at tau, by which a witness of canonical values satisfies the circuit.

    a, b: as `evaluate` gives them; basis: as for `key_scalars`; scratch: as large as the basis, overwritten.
    """
    launch(_constants, len(scratch), F, sizes_of(shape), values, a, b, basis, scratch)
    return total(F, scratch)
