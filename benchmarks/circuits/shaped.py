"""A circuit of any size and density, in whose witness a given share of the values is neither 0 nor 1.

Every constraint takes its wires by its own number i alone. A adds up the wires at i and i + 1 and, in some
constraints, one at i + 2; B is a wire that a few neighbours share; C is the wire at i + 3 and a constant, by
which the drawn witness satisfies the constraint, as round constants do in a hash function. So nothing has to
be computed one after the other, and what a key needs can be had without the matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.circuits.files import Instance
from benchmarks.circuits.terms import Terms
from groth16.key_scalars import multiply_matrix
from groth16.r1cs import Csr, R1cs
from groth16.witness import Witness
from kernels.cpu.vectors import multiply_subtract, to_montgomery
from kernels.encoding import ints_to_limbs
from kernels.fields import Curve, Field
from kernels.parallel import Run, run_chunks, serial

Limbs = NDArray[np.uint64]

A_COEFFICIENTS = (1, -1, 2)  # of the wires at i, i + 1 and i + 2
C_SHIFT = 3
OCTET = 8  # constraints of which the first few have a third term in A

POREP_CONSTRAINTS, POREP_WIRES, POREP_PUBLIC = 130_278_869, 130_170_221, 327
"""Of a partition of a 32 GiB PoRep proof, as the authors of the Rust daemon cuzk published them."""


@dataclass(frozen=True)
class Shape:
    """n_wires counts wire 0, n_public does not; significant: the share of values that are neither 0 nor 1."""

    n_constraints: int
    n_wires: int
    n_public: int
    significant: float
    third_terms: int = 3  # in every eight constraints: 2.375 terms of A a constraint
    rows_a_b_wire: int = 4  # so that a quarter of the wires are in B

    def __post_init__(self) -> None:
        """Raises ValueError for a shape that no circuit has."""
        if not C_SHIFT < self.n_wires - 1 <= self.n_constraints or not 0 <= self.n_public < self.n_wires:
            raise ValueError(
                f"{self.n_constraints} constraints, {self.n_wires} wires, {self.n_public} public: expected "
                f"more than {C_SHIFT + 1} wires, at most one more than constraints, and fewer public ones"
            )
        if self.n_constraints > self.rows_a_b_wire * (self.n_wires - 1) or not 0 <= self.significant <= 1:
            raise ValueError(
                f"{self.rows_a_b_wire} constraints cannot share a wire, or {self.significant} is no share"
            )

    @property
    def n_private(self) -> int:
        """Wires that are neither 1 nor public."""
        return self.n_wires - self.n_public - 1

    @property
    def n_b_wires(self) -> int:
        """Wires that are in B: numbers 1 to this."""
        return -(-self.n_constraints // self.rows_a_b_wire)


def porep_shape(n_constraints: int, significant: float) -> Shape:
    """A PoRep partition's proportions at any size."""
    n_wires = -(-n_constraints * POREP_WIRES // POREP_CONSTRAINTS)
    return Shape(n_constraints, n_wires, -(-n_constraints * POREP_PUBLIC // POREP_CONSTRAINTS), significant)


def porep(significant: float, curve: Curve, n_constraints: int) -> Instance:
    """A circuit of a PoRep partition's proportions. Raises ValueError for fewer than 8 constraints."""
    return shaped(curve, porep_shape(n_constraints, significant))


POREP_KINDS = {f"porep-{percent}": partial(porep, percent / 100) for percent in (1, 10, 100)}
"""By the share of significant values, in per cent."""


def shaped(curve: Curve, shape: Shape, run: Run = serial) -> Instance:
    """The circuit of a shape, and the witness that it is made for."""
    rows, (a, b) = np.arange(shape.n_constraints), (Terms(), Terms())
    for shift, coefficient in enumerate(A_COEFFICIENTS):
        own = rows if shift < 2 else rows[rows % OCTET < shape.third_terms]
        a.add(own, _wires(shape, own + shift), coefficient)
    b.add(rows, _wires(shape, rows // shape.rows_a_b_wire), 1)
    matrices = a.matrix(len(rows), curve.fr), b.matrix(len(rows), curve.fr)
    values = draw_witness(curve.fr, shape, run)
    c = _matrix_c(curve, shape, *matrices, values, run)
    counts = shape.n_wires, 0, shape.n_public, shape.n_private, shape.n_constraints
    return Instance(R1cs(curve, *counts, *matrices, c), Witness(curve, values))


def _wires(shape: Shape, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The wires of these numbers, which start again behind the last wire."""
    return 1 + numbers % (shape.n_wires - 1)


def _matrix_c(curve: Curve, shape: Shape, a: Csr, b: Csr, values: Limbs, run: Run) -> Csr:
    """A wire and a constant in each row, so that the row is (A·w)∘(B·w)."""
    fr, n = curve.fr, shape.n_constraints
    montgomery = np.empty_like(values)
    run_chunks(run, to_montgomery, len(values), fr, montgomery, values)
    products, factors = (multiply_matrix(fr, matrix, montgomery, run) for matrix in (a, b))
    run_chunks(run, to_montgomery, n, fr, products, products)
    wires = _wires(shape, np.arange(n) + C_SHIFT)
    terms = np.empty((n, 2, fr.limbs), np.uint64)
    terms[:, 0] = ints_to_limbs([1], fr.limbs)
    run_chunks(run, multiply_subtract, n, fr, products, products, factors, values[wires])
    terms[:, 1] = products
    columns = np.stack([wires, np.zeros(n, np.int64)], axis=1).astype(np.uint32)
    return Csr(np.arange(0, 2 * n + 1, 2), columns.ravel(), terms.reshape(-1, fr.limbs))


def draw_witness(fr: Field, shape: Shape, run: Run) -> Limbs:
    """(n_wires, 4) canonical values: first 1, then what each number draws, so always equal."""
    values = np.empty((shape.n_wires, 4), np.uint64)
    draw_values(fr, values, shape.significant, 0, run)
    values[0] = [1, 0, 0, 0]
    return values


def draw_values(fr: Field, values: Limbs, significant: float, first: int, run: Run) -> None:
    """values[i] = what number first + i draws: a bit, or with this chance any number below the modulus."""
    most = np.uint64(min(int(significant * (1 << 64)), (1 << 64) - 1))
    run_chunks(run, _draw, len(values), values, most, np.uint64(fr.modulus >> 192), first)


@njit(cache=True, nogil=True)
def _draw(values: Any, most: Any, top: Any, first: int, start: int, stop: int) -> None:
    """A value is significant if a number drawn for it is not above `most`, else it is a drawn bit.

    top: the modulus's highest limb, which a value's is below.
    """
    for i in range(start, stop):
        word = _mix(np.uint64(first + i))
        values[i, 0], values[i, 1], values[i, 2], values[i, 3] = word & np.uint64(1), 0, 0, 0
        word = _mix(word)
        if most > 0 and word <= most:
            for k in range(4):
                word = _mix(word)
                values[i, k] = word
            values[i, 3] %= top


@njit(cache=True, nogil=True)
def _mix(word: Any) -> Any:
    """SplitMix64's step (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014)."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
