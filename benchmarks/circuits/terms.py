"""Constraints written down as columns of terms, many at a time, and turned into a circuit's matrices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groth16.r1cs import Csr
from kernels.encoding import ints_to_limbs
from kernels.fields import Field

Integers = NDArray[np.int64]


@dataclass
class Terms:
    """One of the matrices A, B, C while it grows: equally long columns of rows, wires and coefficients.

    Coefficients are integers of either sign below 2^62.
    """

    rows: list[Integers] = field(default_factory=list)
    wires: list[Integers] = field(default_factory=list)
    coefficients: list[Integers] = field(default_factory=list)

    def add(self, rows: Integers, wires: ArrayLike, coefficient: ArrayLike) -> None:
        """A term in each of `rows`; wires and coefficient are broadcast to their shape."""
        self.rows.append(rows.ravel())
        self.wires.append(np.broadcast_to(np.asarray(wires, np.int64), rows.shape).ravel())
        self.coefficients.append(np.broadcast_to(np.asarray(coefficient, np.int64), rows.shape).ravel())

    def matrix(self, n_rows: int, fr: Field) -> Csr:
        """The terms by row, and in a row in the order in which they came."""
        rows, wires, coefficients = (
            np.concatenate([np.empty(0, np.int64), *column])
            for column in (self.rows, self.wires, self.coefficients)
        )
        order = np.argsort(rows, kind="stable")
        starts = np.zeros(n_rows + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=n_rows), out=starts[1:])
        return Csr(starts, wires[order].astype(np.uint32), field_elements(coefficients[order], fr))


def field_elements(values: Integers, fr: Field) -> NDArray[np.uint64]:
    """Signed integers as canonical elements, (n, 4) limbs."""
    different, places = np.unique(values, return_inverse=True)
    return ints_to_limbs((int(value) % fr.modulus for value in different), fr.limbs)[places]
