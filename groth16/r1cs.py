"""Circuits in iden3's .r1cs format: the matrices A, B, C of (A·w)∘(B·w) = C·w over a curve's scalar field.

Layout (https://github.com/iden3/r1csfile): section 1 is the header; section 2 holds for each constraint three
linear combinations, each a term count u32 and then terms of wire u32 and coefficient, canonical and
little-endian. Wire 0 is the constant 1; public outputs, public inputs and private wires follow in this order.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groth16.container import Container, read_container
from groth16.errors import InputError
from groth16.limbs import first_not_below, scalar_field_in_head
from groth16.witness import Witness
from kernels.fields import Curve

_SECTIONS = {1: "header", 2: "constraints"}
_CUSTOM_GATES = 5
_COUNTS = struct.Struct("<IIIIQI")
_TERM_WORDS = 9  # of 32 bits: the wire, and the coefficient's 32 bytes


@dataclass(frozen=True)
class Csr:
    """A sparse matrix by rows: row i has the terms row_starts[i] to row_starts[i + 1].

    row_starts: (rows + 1,) int64; columns: (terms,) uint32; coefficients: (terms, 4) uint64 limbs, canonical
    in a circuit, times R² in a key (see `matrices`).
    """

    row_starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    coefficients: NDArray[np.uint64]


@dataclass(frozen=True)
class R1csHeader:
    """What a circuit's head says. n_wires counts wire 0."""

    curve: Curve
    n_wires: int
    n_public_outputs: int
    n_public_inputs: int
    n_private_inputs: int
    n_constraints: int

    @property
    def n_public(self) -> int:
        """Public signals: wires 1 to n_public."""
        return self.n_public_outputs + self.n_public_inputs


@dataclass(frozen=True)
class R1cs(R1csHeader):
    """A circuit: a, b and c have n_constraints rows each, coefficients canonical."""

    a: Csr
    b: Csr
    c: Csr


def read_r1cs_header(path: str | Path) -> R1csHeader:
    """Read a circuit's head. Raises InputError as `read_r1cs` does, but for what the constraints hold."""
    return _header(read_container(path, "r1cs", 1, _SECTIONS))


def read_r1cs(path: str | Path) -> R1cs:
    """Read a circuit; it is copied into CSR, the file is not needed afterwards.

    Raises InputError for a file that is no .r1cs, of a field of no supported curve, with custom gates, or
    whose constraints do not fill their section, name a wire that is not there or a coefficient not below the
    modulus.
    """
    container = read_container(path, "r1cs", 1, _SECTIONS)
    header = _header(container)
    a, b, c = _read_matrices(container, header.curve, header.n_wires, header.n_constraints)
    return R1cs(**vars(header), a=a, b=b, c=c)


def _header(container: Container) -> R1csHeader:
    curve, position = scalar_field_in_head(container, 1)
    counts = container.read(1, position, position + _COUNTS.size)
    n_wires, n_outputs, n_inputs, n_private, _, n_constraints = _COUNTS.unpack(counts)
    if n_wires < 1 + n_outputs + n_inputs + n_private:
        raise container.wrong(1, f"counts {n_wires} wires, fewer than its inputs and outputs")
    if _CUSTOM_GATES in container.sections and container.sections[_CUSTOM_GATES].size_bytes > 4:
        raise InputError(
            f"{container.path}: uses custom gates, which Groth16 does not have: compile it without"
        )
    return R1csHeader(curve, n_wires, n_outputs, n_inputs, n_private, n_constraints)


def _read_matrices(container: Container, curve: Curve, n_wires: int, n_constraints: int) -> list[Csr]:
    if container.sections[2].size_bytes % 4:
        raise container.wrong(2, "is no whole number of 32-bit words")
    words = np.frombuffer(container.read(2), np.uint32)
    starts = _combination_starts(container, words, 3 * n_constraints)
    matrices = [_matrix(words, starts[which::3]) for which in range(3)]
    for matrix in matrices:
        if len(matrix.columns) and (wire := int(matrix.columns.max())) >= n_wires:
            raise container.wrong(2, f"names wire {wire}, the circuit has {n_wires}")
        if (term := first_not_below(matrix.coefficients, curve.fr.modulus)) is not None:
            row = int(np.searchsorted(matrix.row_starts, term, side="right")) - 1
            raise container.wrong(2, f"has a coefficient not below the modulus in constraint {row}")
    return matrices


def _combination_starts(
    container: Container, words: NDArray[np.uint32], n_combinations: int
) -> NDArray[np.int64]:
    """Where each linear combination begins, in words: each says only how long it is itself."""
    lengths = words.data
    starts = array("q", [0]) * n_combinations
    position, end = 0, len(words)
    for index in range(n_combinations):
        if position >= end:
            raise container.wrong(2, f"ends after {index // 3} constraints of {n_combinations // 3}")
        starts[index] = position
        position += 1 + _TERM_WORDS * lengths[position]
    if position != end:
        raise container.wrong(
            2, f"is {4 * end} bytes long, its {n_combinations // 3} constraints take {4 * position}"
        )
    return np.frombuffer(starts, np.int64)


def _matrix(words: NDArray[np.uint32], starts: NDArray[np.int64]) -> Csr:
    """Gather every third linear combination into CSR."""
    row_starts = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(words[starts], out=row_starts[1:])
    first_words = starts + 1 - _TERM_WORDS * row_starts[:-1]
    terms = np.repeat(first_words, np.diff(row_starts)) + _TERM_WORDS * np.arange(row_starts[-1])
    coefficients = np.empty((len(terms), 8), np.uint32)
    for word in range(8):
        coefficients[:, word] = words[terms + (1 + word)]
    return Csr(row_starts, words[terms], coefficients.view(np.uint64))


def first_failing_constraint(r1cs: R1cs, witness: Witness) -> int | None:
    """Index of the first constraint that the witness does not satisfy, None if it satisfies all.

    In Python integers, about a microsecond a term: for explaining a failure, not for every proof. Raises
    InputError if the witness is of another curve or number of wires.
    """
    if witness.curve is not r1cs.curve:
        raise InputError(
            f"the witness is on {witness.curve.name}, the circuit on {r1cs.curve.name}: they must match"
        )
    if len(witness.values) != r1cs.n_wires:
        raise InputError(f"the witness has {len(witness.values)} values, the circuit {r1cs.n_wires} wires")
    for row in range(r1cs.n_constraints):
        a, b, c = (_dot(matrix, row, witness.values) for matrix in (r1cs.a, r1cs.b, r1cs.c))
        if (a * b - c) % r1cs.curve.fr.modulus:
            return row
    return None


def _dot(matrix: Csr, row: int, values: NDArray[np.uint64]) -> int:
    terms = range(int(matrix.row_starts[row]), int(matrix.row_starts[row + 1]))
    return sum(_integer(matrix.coefficients[term]) * _integer(values[matrix.columns[term]]) for term in terms)


def _integer(limbs: NDArray[np.uint64]) -> int:
    return int.from_bytes(limbs.tobytes(), "little")
